-- Figures keep the data that they are drawn from, and one drawing for pages:
-- other forms are drawn from the data when somebody takes them. They are made
-- anew by a job, so that nothing is lost with the old table.

drop table figures;
create table figures (
    track    text not null,
    release  text not null,
    subset   text not null,
    slice    text not null,
    figure   text not null,
    summary  text not null,
    data     blob not null,
    svg      text not null,
    inputs   text not null,
    computed integer not null,
    primary key (track, release, subset, slice, figure)
) strict;
