-- The skill that each session of Claude Code activated last, so that any process knows it. Rows of the last day count.

create table hub.session_skills (
  tenant_id text not null,
  session_id text not null,
  -- Null if Claude Code masked its name.
  skill_id text,
  activated_at timestamptz not null,
  primary key (tenant_id, session_id)
);
select hub.distribute('hub.session_skills');
select hub.isolate('hub.session_skills');
grant select, insert, update, delete on hub.session_skills to hub_app;
create index session_skills_by_time on hub.session_skills (tenant_id, activated_at);
-- Without statistics, as hub.records: session ids may name people.
alter table hub.session_skills alter column session_id set statistics 0;
