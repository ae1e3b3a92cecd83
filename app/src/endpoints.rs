//! The endpoints of the API, in one list: the page that explains them and the
//! OpenAPI document are both made of it. A test compares it with the routes.

/// One endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// Its path, with `{names}`.
    pub path: &'static str,
    /// What it tells or does, in a sentence.
    pub about: &'static str,
    /// What its query may hold: (name, what it is).
    pub query: &'static [(&'static str, &'static str)],
    /// The properties of the JSON object that it takes: (name, whether it must be there).
    pub body: &'static [(&'static str, bool)],
    /// Who may ask.
    pub needs: Needs,
    /// An address to try; empty: none that works for everybody.
    pub example: &'static str,
}

/// Who may ask an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Everybody, for what is public; owners and maintainers for the rest.
    Nothing,
    /// A token that may `read`, or a session.
    Read,
    /// A token that may `submit`.
    Submit,
    /// An administrator's token that may `maintain`.
    Maintain,
}

impl Needs {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Nothing => "nothing for what is public",
            Self::Read => "a token that may read",
            Self::Submit => "a token that may submit",
            Self::Maintain => "an administrator's token that may maintain",
        }
    }
}

const PAGED: &[(&str, &str)] = &[
    ("limit", "items of a page, 1 to 200; 50 unless told"),
    ("after", "the key of the last item before; `next` has it"),
];
const BOARD: &[(&str, &str)] = &[
    ("release", "a release; the newest with rows unless told"),
    ("subset", "a subset of it; `full` unless told"),
    ("sort", "a column"),
    ("reverse", "1: the other way round"),
    ("agent", "rows of this agent"),
    ("model", "rows of this model"),
];
const PLAIN: Endpoint = Endpoint {
    method: "GET",
    path: "",
    about: "",
    query: &[],
    body: &[],
    needs: Needs::Nothing,
    example: "",
};

/// Every endpoint.
pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: "/api/v1",
        about: "Where the rest is.",
        example: "/api/v1",
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/openapi.json",
        about: "This list as an OpenAPI document.",
        example: "/api/v1/openapi.json",
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/boards",
        about: "The tracks, each with its board.",
        example: "/api/v1/boards",
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/boards/{track}",
        about: "A board: its rows with ranks, intervals and statistics.",
        query: BOARD,
        example: "/api/v1/boards/repair",
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/compare",
        about: "Rows against each other, case by case. While its `state` is `computing`, ask again.",
        query: &[
            ("rows", "two to six submissions, apart by commas"),
            ("slice", "a part of the board"),
        ],
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/reported",
        about: "What publications report; nothing of it was scored here.",
        example: "/api/v1/reported",
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/cases",
        about: "Every case, with its proof and its rates.",
        query: PAGED,
        example: "/api/v1/cases?limit=2",
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/cases/{id}",
        about: "A case: symptom, evidence, proof, and every configuration's outcome.",
        example: "/api/v1/cases/relay-1",
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/submissions",
        about: "Submissions, newest first: one's own, or what stands on the boards.",
        query: &[
            ("of", "`me` or `public`; `me` unless told, when signed in"),
            PAGED[0],
            PAGED[1],
        ],
        example: "/api/v1/submissions?of=public",
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/submissions/{id}",
        about: "A submission: card, scores, revisions; its report, timeline notes and hits for its owners.",
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/submissions/{id}/live",
        about: "Where a submission is, with the state of every attempt.",
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/submissions/{id}/attempts",
        about: "Its attempts with their outcomes.",
        query: PAGED,
        ..PLAIN
    },
    Endpoint {
        method: "POST",
        path: "/api/v1/submissions/{id}/withdraw",
        about: "Takes a submission back before it is published.",
        body: &[("reason", true)],
        needs: Needs::Submit,
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/attempts/{id}",
        about: "An attempt: its result by stages, its patch or diagnosis, a step of its trace.",
        query: &[
            ("step", "the step shown in full, from 0"),
            ("q", "text to look for in the steps"),
        ],
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/changes",
        about: "What changed on the boards, newest first.",
        query: PAGED,
        example: "/api/v1/changes",
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/me",
        about: "Whose token it is: submissions, tokens, teams, quota.",
        needs: Needs::Read,
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/quota",
        about: "What may still be handed in today; in the headers `RateLimit-Policy` and `RateLimit` too.",
        query: &[("team", "the team whose quota is asked for")],
        needs: Needs::Read,
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/reevaluations",
        about: "Sets that were scored again.",
        needs: Needs::Maintain,
        ..PLAIN
    },
    Endpoint {
        method: "POST",
        path: "/api/v1/reevaluations",
        about: "Scores a set again, beside what is live.",
        body: &[
            ("scope", true),
            ("subject", false),
            ("reason", true),
            ("fresh", false),
        ],
        needs: Needs::Maintain,
        ..PLAIN
    },
    Endpoint {
        path: "/api/v1/reevaluations/{id}",
        about: "One of them: the matrix of old against new verdicts.",
        needs: Needs::Maintain,
        ..PLAIN
    },
    Endpoint {
        method: "POST",
        path: "/api/v1/reevaluations/{id}/{deed}",
        about: "Makes it live (`apply`) or drops it (`discard`).",
        needs: Needs::Maintain,
        ..PLAIN
    },
];
