//! The settings of accounts and teams, a part of the one list of settings.

use clap::Args;

/// Who may sign in how, and what teams may do.
#[derive(Debug, Clone, Args)]
pub struct Accounts {
    /// How many scorings a team may complete in 24 hours.
    #[arg(
        long,
        env = "FAULTBOARD_TEAM_DAILY_SCORINGS",
        value_name = "N",
        default_value_t = 20,
        global = true,
        hide_short_help = true
    )]
    pub team_daily_scorings: u32,

    /// The address of an OpenID Connect provider (its issuer) whose accounts may sign in; it is asked for the rest. Its redirect address is this site's with `/sign-in/provider/callback`.
    #[arg(
        long,
        env = "FAULTBOARD_OIDC_ISSUER",
        value_name = "URL",
        requires = "oidc_client_id",
        global = true,
        hide_short_help = true
    )]
    pub oidc_issuer: Option<String>,

    /// The id that the provider gave this site.
    #[arg(
        long,
        env = "FAULTBOARD_OIDC_CLIENT_ID",
        value_name = "ID",
        global = true,
        hide_short_help = true
    )]
    pub oidc_client_id: Option<String>,

    /// The secret that the provider gave this site; not set: a public client, which proves itself by PKCE alone.
    #[arg(
        long,
        env = "FAULTBOARD_OIDC_CLIENT_SECRET",
        value_name = "SECRET",
        hide_env_values = true,
        global = true,
        hide_short_help = true
    )]
    pub oidc_client_secret: Option<String>,

    /// How the provider is called on the page for signing in.
    #[arg(
        long,
        env = "FAULTBOARD_OIDC_NAME",
        value_name = "NAME",
        default_value = "your organisation",
        global = true,
        hide_short_help = true
    )]
    pub oidc_name: String,
}
