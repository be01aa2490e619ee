import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { programBreaches } from '../../server/db/distribution/program-breaches.ts'
import { migrationBreaches, sourceBreaches } from './source-rules.ts'

const root = join(import.meta.dirname, '../..')
const filesOf = (pattern: string) => globSync(pattern, { cwd: root }).sort()
const read = (file: string) => readFileSync(join(root, file), 'utf8')

test('no migration breaks rule 12 of distribution', () => {
  const migrations = filesOf('server/db/migrations/*.sql')
  expect(migrations.length).toBeGreaterThan(20)
  expect(migrations.flatMap((file) => migrationBreaches(read(file)).map((breach) => ({ file, ...breach })))).toEqual([])
})

test('`hub db status` lists exactly the breaches of the sources', () => {
  const found = filesOf('{server,cli}/**/*.ts').flatMap((where) =>
    sourceBreaches(read(where)).map(({ rule, detail }) => ({ rule, where, detail })),
  )
  const byPlace = (a: { where: string }, b: { where: string }) => a.where.localeCompare(b.where)
  expect(found.sort(byPlace)).toEqual([...programBreaches].sort(byPlace))
})

test.each([
  [
    'inside of its CREATE TABLE',
    `create table hub.a (tenant_id text, b text, foreign key (b) references hub.b (b));
    select hub.distribute('hub.a');`,
  ],
  ['is not distributed after', 'create table hub.a (tenant_id text primary key);'],
  ['is not distributed after', `select hub.distribute('hub.a'); create table hub.a (tenant_id text primary key);`],
  ['has no name', 'alter table hub.a add foreign key (tenant_id) references hub.b (tenant_id);'],
  ['contains a CHECK', 'alter table hub.a add column b integer check (b > 0);'],
  ['several indexes', 'drop index hub.a, hub.b;'],
  ['concurrently', 'create index concurrently a on hub.records (tenant_id);'],
])('a migration is caught whose breach %s', (detail, sql) => {
  expect(migrationBreaches(sql)).toEqual([{ rule: 12, detail: expect.stringContaining(detail) }])
})

test('a migration is not caught for comments, bodies of functions and tables without a tenant', () => {
  const sql = `-- drop index a, b;
    create table hub.a (b text references hub.b (b));
    do $$ begin execute 'select 1, 2'; end $$;
    alter table hub.a add column c integer;
    alter table hub.a add constraint c check (c > 0);`
  expect(migrationBreaches(sql)).toEqual([])
})

test.each([
  [14, 'client.query(`begin; set local lock_timeout = 1`)'],
  [14, `const opening = 'set local a = 1; select 1'`],
  [15, 'connection.bind({ statement }); connection.sync()'],
  [17, "client.query(`update hub.a set b = c + interval '1 hour' where tenant_id = $1`)"],
  [17, 'client.query(`insert into hub.a values ($1) on conflict (b) do update set c = to_jsonb(excluded.d)`)'],
  [17, 'client.query(`update hub.a set b = now() + make_interval(secs => $2)`)'],
])('a source that breaks rule %i is caught: %s', (rule, source) => {
  expect(sourceBreaches(source).map((breach) => breach.rule)).toEqual([rule])
})

test.each([
  'client.query(`set local lock_timeout = 1`)',
  "client.query(`select a from hub.a where b < now() - interval '1 hour' for update`)",
  "sendStatement(connection, 'begin', []); connection.bind({ statement }); connection.sync()",
])('a source that breaks no rule is not caught: %s', (source) => {
  expect(sourceBreaches(source)).toEqual([])
})
