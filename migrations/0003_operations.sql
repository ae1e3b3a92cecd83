-- What operators steer the workers by, and re-evaluations of whole sets.

-- The machine that a worker runs on, why it does not claim, and what an
-- administrator wishes of it.
alter table workers add column node text not null default '';
alter table workers add column why text not null default '';
alter table workers add column wish text check (wish in ('drain', 'release'));

-- Failed tries that were given back, because the platform itself was out of
-- order when they failed.
alter table jobs add column spared integer not null default 0;

-- On which workers a case failed for reasons of infrastructure since it last
-- worked anywhere.
create table case_faults (
    case_id text not null,
    worker  text not null,
    times   integer not null,
    at      integer not null,
    reason  text not null,
    primary key (case_id, worker)
) strict;

-- Cases that failed on every worker: nothing of theirs is claimed until an
-- administrator lets them go on.
create table parked_cases (
    case_id text primary key,
    at      integer not null,
    reason  text not null
) strict;

-- One row per set of submissions that is scored again together.
create table reevaluations (
    id         text primary key,
    scope      text not null,
    subject    text not null,
    reason     text not null,
    fresh      integer not null,
    created    integer not null,
    created_by text not null
) strict;
alter table revisions add column reevaluation_id text references reevaluations (id);
-- The revision that was live when this one was begun: what it is compared with.
alter table revisions add column base_id text references revisions (id);
create index revisions_by_reevaluation on revisions (reevaluation_id);

-- What operators did, beyond the timelines of single submissions.
create table audit (
    id      integer primary key,
    at      integer not null,
    who     text not null,
    user_id text,
    deed    text not null,
    subject text not null,
    note    text not null
) strict;
create trigger audit_keep before update on audit
    begin select raise(abort, 'the audit log is append-only'); end;
create trigger audit_stay before delete on audit
    begin select raise(abort, 'the audit log is append-only'); end;
