//! The settings of a cluster, a part of the one list of settings. It reads
//! them and checks their form; whether such a cluster is there, the runtime finds.

use clap::Args;

/// Where a cluster's images come from, and which of its machines take runs.
#[derive(Debug, Clone, Args)]
pub struct Cluster {
    /// The registry that the nodes of a swarm take images from, as host and port; the runtime `swarm` needs one.
    #[arg(long, env = "FAULTBOARD_SWARM_REGISTRY", value_name = "HOST:PORT", value_parser = registry, global = true, hide_short_help = true)]
    pub swarm_registry: Option<String>,

    /// The label that nodes of a swarm carry if runs may be placed on them; without one every node takes runs.
    #[arg(long, env = "FAULTBOARD_SWARM_LABEL", value_name = "NAME=VALUE", value_parser = label, global = true, hide_short_help = true)]
    pub swarm_label: Option<String>,
}

fn registry(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() || text.contains(['/', '@', ' ']) {
        return Err("give the host and the port alone, such as registry.example:5000".into());
    }
    Ok(text.to_owned())
}

fn label(text: &str) -> Result<String, String> {
    let word = |w: &str| {
        !w.is_empty()
            && w.bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
    };
    match text.trim().split_once('=') {
        Some((name, value)) if word(name) && word(value) => Ok(text.trim().to_owned()),
        _ => Err(
            "give a name and a value of letters, digits, `.`, `-` and `_`, such as faultboard=true"
                .into(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_is_a_host_and_a_port() {
        assert_eq!(registry(" r.example:5000 ").unwrap(), "r.example:5000");
        for wrong in ["", "https://r.example", "r.example/images", "me@r"] {
            assert!(registry(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_label_is_one_name_and_one_value() {
        assert_eq!(label("pool=big-1").unwrap(), "pool=big-1");
        for wrong in ["", "pool", "pool=", "=x", "a==b", "a=b c"] {
            assert!(label(wrong).is_err(), "{wrong}");
        }
    }
}
