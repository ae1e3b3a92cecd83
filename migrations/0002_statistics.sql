-- Statistics: computed by jobs, read by pages. A row's key is the SHA-256 of
-- everything that it was computed from, so rows are added and never change, and
-- what is there needs no computing again.

create table statistics (
    inputs   text primary key,
    kind     text not null check (kind in ('row','pair','board','power')),
    body     text not null,
    computed integer not null
) strict;
create trigger statistics_keep before update on statistics
    begin select raise(abort, 'statistics are never changed'); end;
create trigger statistics_stay before delete on statistics
    begin select raise(abort, 'statistics are never deleted'); end;

-- Comparisons that readers asked for and no job has computed yet.
create table wanted_comparisons (
    id      integer primary key,
    body    text not null unique,
    created integer not null
) strict;
