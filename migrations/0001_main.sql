-- The tables of Faultboard. Times are milliseconds since 1970 in UTC; ids are
-- the texts of the domain's identifiers; digests are SHA-256 in hexadecimal.

create table users (
    id            text primary key,
    name          text not null,
    email         text not null unique collate nocase,
    password_hash text not null,
    role          text not null check (role in ('submitter','curator','annotator','reviewer','admin')),
    created       integer not null
) strict;

create table sessions (
    token_hash text primary key,
    user_id    text not null references users (id),
    created    integer not null,
    expires    integer not null
) strict;

create table one_time_tokens (
    token_hash text primary key,
    purpose    text not null,
    created    integer not null,
    expires    integer not null,
    used       integer
) strict;

create table api_tokens (
    id         integer primary key,
    user_id    text not null references users (id),
    name       text not null,
    prefix     text not null,
    token_hash text not null unique,
    created    integer not null,
    expires    integer not null,
    last_used  integer,
    revoked    integer
) strict;

create table uploads (
    id            text primary key,
    user_id       text not null references users (id),
    file_name     text not null,
    length        integer not null,
    sha256        text,
    created       integer not null,
    changed       integer not null,
    submission_id text references submissions (id)
) strict;

create table submissions (
    id                text primary key,
    user_id           text not null references users (id),
    state             text not null,
    file_name         text not null,
    size              integer not null,
    sha256            text not null,
    title             text not null,
    track             text,
    release           text,
    subset            text,
    configuration_key text,
    metadata          text,
    report            text,
    trace_bytes       integer not null default 0,
    live_revision     text,
    created           integer not null,
    changed           integer not null,
    published         integer
) strict;
create index submissions_by_user on submissions (user_id, created);
create index submissions_by_state on submissions (state, changed);
create index submissions_by_configuration on submissions (configuration_key, state);

create table submission_events (
    id            integer primary key,
    submission_id text not null references submissions (id),
    at            integer not null,
    who           text not null,
    user_id       text,
    state         text,
    note          text not null
) strict;
create index submission_events_by_submission on submission_events (submission_id, id);
create trigger submission_events_keep before update on submission_events
    begin select raise(abort, 'the event log is append-only'); end;
create trigger submission_events_stay before delete on submission_events
    begin select raise(abort, 'the event log is append-only'); end;

create table attempts (
    id                text primary key,
    submission_id     text not null references submissions (id),
    position          integer not null,
    case_id           text not null,
    condition         text,
    run               integer not null,
    patch_digest      text,
    patch_size        integer not null default 0,
    diagnosis_digest  text,
    diagnosis_size    integer not null default 0,
    trace_digest      text not null,
    trace_name        text not null,
    trace_size        integer not null,
    normalised_digest text,
    normalised_size   integer not null default 0,
    step_index        text,
    summary           text,
    stats             text,
    unique (submission_id, position)
) strict;
create index attempts_by_case on attempts (case_id);

create table findings (
    id            integer primary key,
    submission_id text not null references submissions (id),
    attempt_id    text not null references attempts (id),
    severity      text not null,
    body          text not null,
    disposition   text not null default 'open' check (disposition in ('open','confirmed','cleared')),
    reason        text not null default '',
    decided_by    text,
    decided       integer
) strict;
create index findings_by_submission on findings (submission_id);

create table revisions (
    id             text primary key,
    submission_id  text not null references submissions (id),
    number         integer not null,
    state          text not null check (state in ('building','ready','live','replaced','discarded')),
    reason         text not null,
    fresh          integer not null,
    scorer_version text not null,
    created        integer not null,
    created_by     text not null,
    finished       integer,
    scores         text,
    selection      text,
    changes        text,
    unique (submission_id, number)
) strict;

create table outcomes (
    revision_id text not null references revisions (id),
    attempt_id  text not null references attempts (id),
    outcome     text not null,
    result      text not null,
    at          integer not null,
    primary key (revision_id, attempt_id)
) strict;
create trigger outcomes_keep before update on outcomes
    begin select raise(abort, 'outcomes are never changed; a re-evaluation adds a revision'); end;
create trigger outcomes_stay before delete on outcomes
    begin select raise(abort, 'outcomes are never deleted'); end;

create table verdict_cache (
    key    text primary key,
    result text not null,
    at     integer not null
) strict;

create table jobs (
    id            integer primary key,
    kind          text not null,
    state         text not null check (state in ('queued','running','done','parked','cancelled')),
    priority      integer not null,
    submission_id text references submissions (id),
    revision_id   text references revisions (id),
    attempt_id    text references attempts (id),
    -- No two running jobs share a value: one run of a case at a time on a host.
    exclusive_key text,
    -- No two unfinished jobs share a value: asking twice enqueues once.
    unique_key    text,
    subject       text not null,
    tries         integer not null default 0,
    max_tries     integer not null,
    created       integer not null,
    run_after     integer not null,
    worker        text,
    lease_token   text,
    lease_until   integer,
    started       integer,
    finished      integer,
    cancel        integer not null default 0,
    last_error    text not null default ''
) strict;
create index jobs_by_claim on jobs (state, priority, run_after);
create index jobs_by_submission on jobs (submission_id, state);
create unique index jobs_unique on jobs (unique_key) where state in ('queued','running','parked');

create table job_logs (
    job_id integer not null references jobs (id),
    seq    integer not null,
    chunk  text not null,
    primary key (job_id, seq)
) strict;

create table workers (
    name    text primary key,
    runtime text not null,
    seen    integer not null,
    state   text not null,
    running integer not null
) strict;

create table boards (
    track    text not null,
    release  text not null,
    subset   text not null,
    slice    text not null,
    body     text not null,
    inputs   text not null,
    computed integer not null,
    primary key (track, release, subset, slice)
) strict;

create table figures (
    track   text not null,
    release text not null,
    subset  text not null,
    slice   text not null,
    figure  text not null,
    variant text not null,
    body    blob not null,
    primary key (track, release, subset, slice, figure, variant)
) strict;

create table case_boards (
    case_id  text primary key,
    body     text not null,
    computed integer not null
) strict;

create table proofs (
    id       integer primary key,
    case_id  text not null,
    body     text not null,
    verified integer not null
) strict;
create index proofs_by_case on proofs (case_id, verified);

create table changes (
    id   integer primary key,
    at   integer not null,
    text text not null,
    href text not null
) strict;

create table flags (
    name  text primary key,
    value text not null
) strict;
