import type { Breach } from '../../server/db/distribution/schema-rules.ts'

/** Reads the rules of docs/distribution.md that only the sources show. They take a text, so that tests can break them. */

type Found = Omit<Breach, 'where'>

/** Returns the breaches of a migration. */
export function migrationBreaches(text: string): Found[] {
  const sql = text.replaceAll(/^\s*--.*$/gm, '')
  const found: Found[] = []
  const add = (rule: number, detail: string) => {
    if (!found.some((breach) => breach.rule === rule && breach.detail === detail)) found.push({ rule, detail })
  }
  for (const statement of statementsOf(sql)) {
    const table = /^create table (hub\.\w+)/i.exec(statement)?.[1]
    if (table !== undefined && /\btenant_id\b/i.test(statement)) {
      if (/\breferences\b/i.test(statement)) add(12, `the foreign key of ${table} is inside of its CREATE TABLE`)
      const distributed = sql.indexOf(`select hub.distribute('${table}')`)
      if (distributed < sql.indexOf(statement)) add(12, `${table} is not distributed after its CREATE TABLE`)
    }
    if (/^alter table\b.*\badd foreign key\b/is.test(statement)) add(12, 'a foreign key has no name')
    if (/\badd column\b[^;]*\bcheck\s*\(/is.test(statement)) add(12, 'ADD COLUMN contains a CHECK')
    if (/^drop index\b[^;]*,/is.test(statement)) add(12, 'DROP INDEX names several indexes')
    if (/^create (unique )?index concurrently\b.* on hub\.(records|search_documents) /is.test(statement)) {
      add(12, 'an index of a partitioned table is built concurrently at once')
    }
  }
  return found
}

/** Splits SQL at semicolons outside of dollar-quoted bodies, which stay with their statement. */
function statementsOf(sql: string): string[] {
  const bodies: string[] = []
  const flat = sql.replaceAll(/\$\$.*?\$\$/gs, (body) => `$body${bodies.push(body) - 1}$`)
  return flat
    .split(';')
    .map((statement) => statement.replaceAll(/\$body(\d+)\$/g, (_, at) => bodies[Number(at)]!).trim())
    .filter((statement) => statement !== '')
}

/** Returns the breaches of a source file. */
export function sourceBreaches(source: string): Found[] {
  const found: Found[] = []
  const literals = [...source.matchAll(/`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/gs)].map(
    ([text]) => text,
  )
  if (literals.some((text) => /;.*\bset local\b|\bset local\b.*;/is.test(text))) {
    found.push({ rule: 14, detail: 'SET LOCAL is part of a string with several statements' })
  }
  if (/\.sync\(\)/.test(source) && /\.bind\(/.test(source) && !/sendStatement\([^)]*\bbegin\b/i.test(source)) {
    found.push({ rule: 15, detail: 'a pipeline has no explicit BEGIN and COMMIT' })
  }
  if (literals.some(changesByStableCode)) {
    found.push({ rule: 17, detail: 'an UPDATE computes a value with interval arithmetic, to_json or to_jsonb' })
  }
  return found
}

function changesByStableCode(text: string): boolean {
  const update = /\bupdate (hub\.\w+|set)\b(.*)/is.exec(text)?.[2]
  return update !== undefined && /\binterval\b|\bmake_interval\(|\bto_jsonb?\(/i.test(update)
}
