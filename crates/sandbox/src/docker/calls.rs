//! Engine calls with a deadline and one typed error each.

use std::future::Future;
use std::time::Duration;

use bollard::Docker;
use bollard::errors::Error;
use bollard::query_parameters as query;

use crate::error::RuntimeError;

/// For calls that only look something up or send a signal.
pub(crate) const SHORT: Duration = Duration::from_secs(20);
/// For calls that make the engine work on its disk.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// Awaits an engine call, at most `limit`.
pub(crate) async fn call<T>(
    name: &'static str,
    limit: Duration,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, RuntimeError> {
    match tokio::time::timeout(limit, work).await {
        Ok(answer) => answer.map_err(|e| engine_error(name, e)),
        Err(_) => Err(RuntimeError::EngineTimeout {
            call: name,
            seconds: limit.as_secs(),
        }),
    }
}

/// Sorts an engine's error into ours.
pub(crate) fn engine_error(call: &'static str, error: Error) -> RuntimeError {
    let detail = match &error {
        Error::DockerResponseServerError { message, .. } => message.trim().to_owned(),
        other => other.to_string(),
    };
    if detail.contains("no space left on device") {
        return RuntimeError::EngineDiskFull { detail };
    }
    match error {
        Error::DockerResponseServerError {
            status_code: 404, ..
        } if detail.to_lowercase().contains("no such image") => RuntimeError::ImageMissing {
            image: String::new(),
            detail,
        },
        Error::DockerResponseServerError { .. } => RuntimeError::Engine { call, detail },
        Error::HyperResponseError { .. }
        | Error::HyperLegacyError { .. }
        | Error::IOError { .. } => RuntimeError::Unavailable {
            runtime: "docker",
            detail: format!("{call}: {detail}"),
        },
        _ => RuntimeError::Engine { call, detail },
    }
}

/// Removes a container, running or not. That it is already gone is no error.
pub(super) async fn remove(client: &Docker, id: &str) -> Result<(), RuntimeError> {
    let options = query::RemoveContainerOptionsBuilder::default()
        .force(true)
        .v(true)
        .build();
    match tokio::time::timeout(LONG, client.remove_container(id, Some(options))).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(Error::DockerResponseServerError {
            status_code: 404, ..
        })) => Ok(()),
        // Another removal is under way, which is as good.
        Ok(Err(Error::DockerResponseServerError {
            status_code: 409,
            message,
        })) if message.contains("already in progress") => Ok(()),
        Ok(Err(e)) => Err(engine_error("remove container", e)),
        Err(_) => Err(RuntimeError::EngineTimeout {
            call: "remove container",
            seconds: LONG.as_secs(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(status_code: u16, message: &str) -> RuntimeError {
        engine_error(
            "create container",
            Error::DockerResponseServerError {
                status_code,
                message: message.into(),
            },
        )
    }

    #[test]
    fn engine_answers_become_what_they_mean() {
        assert_eq!(server(404, "No such image: a:1").kind(), "image-missing");
        assert_eq!(server(404, "no such container").kind(), "engine");
        assert_eq!(
            server(500, "write /x: no space left on device").kind(),
            "disk-full"
        );
        assert_eq!(server(500, "boom").kind(), "engine");
        let down = engine_error(
            "ping",
            Error::IOError {
                err: std::io::Error::other("refused"),
            },
        );
        assert_eq!(down.kind(), "unavailable");
    }

    #[tokio::test]
    async fn a_call_that_hangs_is_an_error_with_its_name() {
        let hangs = std::future::pending::<Result<(), Error>>();
        let error = call("inspect", Duration::from_millis(5), hangs)
            .await
            .unwrap_err();
        assert!(matches!(
            error,
            RuntimeError::EngineTimeout {
                call: "inspect",
                ..
            }
        ));
    }
}
