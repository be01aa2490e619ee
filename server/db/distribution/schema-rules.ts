import type pg from 'pg'

/** A breach of a rule that keeps the database distributable by tenant. */
export interface Breach {
  /** The number of the rule in docs/distribution.md. */
  readonly rule: number
  /** The table, function or file. */
  readonly where: string
  readonly detail: string
}

interface SchemaRule {
  readonly rule: number
  readonly text: string
  /** Selects the tenant tables that break it: `name`, and optionally `part`. */
  readonly sql: string
}

/** The tenant tables of the schema, as `tenant_table`, for the queries of rules. */
export const withTenantTables = `
  with tenant_table as (
    select c.oid, c.relname as name, c.relrowsecurity, c.relforcerowsecurity, a.attnum, a.attnotnull, a.atttypid
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
    where c.relnamespace = 'hub'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition)`

/** The rules that the catalog shows. */
export const schemaRules: readonly SchemaRule[] = [
  {
    rule: 1,
    text: 'tenant_id is text not null',
    sql: `select name, null as part from tenant_table where not attnotnull or atttypid <> 'text'::regtype`,
  },
  {
    rule: 1,
    text: 'tenant_id leads the primary key, and there is one',
    sql: `select name, null as part from tenant_table t where not exists (
      select from pg_index i where i.indrelid = t.oid and i.indisprimary and i.indkey[0] = t.attnum)`,
  },
  {
    rule: 1,
    text: 'tenant_id leads every unique constraint and every index',
    sql: `select name, i.indexrelid::regclass::text as part from tenant_table t
    join pg_index i on i.indrelid = t.oid where i.indkey[0] <> t.attnum`,
  },
  {
    rule: 2,
    text: 'foreign keys lead with tenant_id on both sides, never point at records, and change nothing by themselves',
    sql: `select name, k.conname::text as part from tenant_table t
    join pg_constraint k on k.conrelid = t.oid and k.contype = 'f'
    left join pg_attribute target on target.attrelid = k.confrelid and target.attname = 'tenant_id'
    where k.confrelid = 'hub.records'::regclass or k.confdeltype in ('n', 'd') or k.confupdtype <> 'a'
      or k.conkey[1] <> t.attnum or k.confkey[1] is distinct from target.attnum`,
  },
  {
    rule: 2,
    text: 'no table without a tenant refers to it',
    sql: `select name, k.conname::text as part from tenant_table t
    join pg_constraint k on k.confrelid = t.oid and k.contype = 'f'
    where k.conrelid not in (select oid from tenant_table)`,
  },
  {
    rule: 3,
    text: 'there is no trigger',
    sql: `select name, g.tgname::text as part from tenant_table t
    join pg_trigger g on g.tgrelid = t.oid and not g.tgisinternal`,
  },
  {
    rule: 3,
    text: 'there is no rule',
    sql: `select name, r.rulename::text as part from tenant_table t join pg_rewrite r on r.ev_class = t.oid`,
  },
  {
    rule: 3,
    text: 'there is one policy, for all commands and roles, and it compares the tenant without a subquery',
    sql: `select name, p.polname::text as part from tenant_table t left join pg_policy p on p.polrelid = t.oid
    where p.oid is null or p.polcmd <> '*' or not p.polpermissive or p.polroles <> '{0}' or p.polwithcheck is not null
      or pg_get_expr(p.polqual, p.polrelid) <> '(tenant_id = current_setting(''hub.tenant_id''::text, true))'
      or (select count(*) from pg_policy q where q.polrelid = t.oid) <> 1`,
  },
  {
    rule: 3,
    text: 'no column draws its value from a sequence, the clock or chance: the service makes ids and times',
    sql: `select name, a.attname::text as part from tenant_table t
    join pg_attribute a on a.attrelid = t.oid and a.attnum > 0
    left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
    where a.attidentity <> '' or a.attgenerated <> '' or pg_get_expr(d.adbin, d.adrelid) ~ 'nextval|random|now|uuid'`,
  },
  {
    rule: 3,
    text: 'key columns are uuid, bigint, text, bytea or date',
    sql: `select name, a.attname::text as part from tenant_table t
    join pg_index i on i.indrelid = t.oid and i.indisprimary
    join pg_attribute a on a.attrelid = t.oid and a.attnum = any(i.indkey)
    where a.atttypid not in ('uuid'::regtype, 'bigint'::regtype, 'text'::regtype, 'bytea'::regtype, 'date'::regtype)`,
  },
]

/** Functions with their owner's rights that read or change rows of a tenant table. */
const delegatedFunctions = `${withTenantTables}
  select p.oid::regprocedure::text as name, p.prosrc ~ 'pg_advisory' as locks
  from pg_proc p
  where p.pronamespace = 'hub'::regnamespace and p.prosecdef and exists (
    select from tenant_table t where p.prosrc ~* ('\\m(from|join|update|into) hub\\.' || t.name || '(_all)?\\M'))
  order by 1`

/** Returns the breaches that the catalog shows. Needs the Hub's schema. */
export async function schemaBreaches(client: pg.ClientBase): Promise<Breach[]> {
  const breaches: Breach[] = []
  for (const { rule, text, sql } of schemaRules) {
    const { rows } = await client.query<{ name: string; part: string | null }>(withTenantTables + sql)
    for (const { name, part } of rows) {
      breaches.push({ rule, where: `hub.${name}`, detail: `${part === null ? '' : `${part}: `}broken is "${text}"` })
    }
  }
  const { rows } = await client.query<{ name: string; locks: boolean }>(delegatedFunctions)
  for (const { name, locks } of rows) {
    const lock = locks ? ', and its advisory lock would be taken on a worker' : ''
    breaches.push({
      rule: 16,
      where: name,
      detail: `runs with its owner’s rights on tenant tables without delegation${lock}`,
    })
  }
  return breaches
}
