-- People who sign in with an account from elsewhere, teams, and what a token
-- may do. Nothing here deletes along: who leaves or ends a team takes neither
-- people nor submissions away.

-- An account at an identity provider and the account here that it opens.
create table identities (
    issuer  text not null,
    subject text not null,
    user_id text not null references users (id),
    created integer not null,
    primary key (issuer, subject)
) strict;
create index identities_by_user on identities (user_id);

-- Sign-ins that have gone to a provider and not come back: used once, within
-- minutes. `user_id` is who adds the identity to their account; null: to sign in.
create table pending_sign_ins (
    state_hash text primary key,
    nonce      text not null,
    verifier   text not null,
    next       text not null,
    user_id    text references users (id),
    created    integer not null,
    expires    integer not null
) strict;

create table teams (
    id         text primary key,
    name       text not null unique collate nocase,
    created    integer not null,
    created_by text not null references users (id),
    ended      integer
) strict;

create table team_members (
    team_id text not null references teams (id),
    user_id text not null references users (id),
    role    text not null check (role in ('owner','member')),
    joined  integer not null,
    primary key (team_id, user_id)
) strict;
create index team_members_by_user on team_members (user_id);

create table team_invites (
    id         integer primary key,
    team_id    text not null references teams (id),
    email      text not null collate nocase,
    token_hash text not null unique,
    created    integer not null,
    created_by text not null references users (id),
    expires    integer not null,
    used       integer,
    revoked    integer
) strict;
create index team_invites_by_team on team_invites (team_id);

-- The team that something is handed in for; null: for oneself.
alter table uploads add column team_id text references teams (id);
alter table submissions add column team_id text references teams (id);
create index submissions_by_team on submissions (team_id, created);

-- Words of `read`, `submit`, `maintain`, apart by blanks. Tokens made before
-- could do all that their owner could.
alter table api_tokens add column scopes text not null default 'read submit maintain';
