-- What came of running a trace's commands once more. Rows are added, never changed.
create table replays (
    id         integer primary key,
    attempt_id text not null references attempts (id),
    body       text not null,
    at         integer not null
) strict;
create index replays_by_attempt on replays (attempt_id, id);
