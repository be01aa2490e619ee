import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { DatabaseLog } from '../db/database.ts'
import { currentWork, tracer, type WorkSpan } from './current-work.ts'

/** Names a statement without its text: the command and the first table of the Hub. */
interface StatementName {
  readonly command: string
  readonly table: string | undefined
  /** The first 16 hexadecimal digits of the SHA-256 of the text. */
  readonly digest: string
}

export interface StatementWatch {
  readonly log: DatabaseLog | undefined
  /** Milliseconds from which a statement is logged; 0 logs none. */
  readonly slowMs: number
}

const names = new Map<string, StatementName>()
const namesMax = 5_000

/** Returns the name of a statement. Texts repeat, so names are kept. */
export function statementName(text: string): StatementName {
  const known = names.get(text)
  if (known) return known
  const command = /^\s*(\w+)/.exec(text)?.[1]?.toUpperCase() ?? 'OTHER'
  // The opening of a transaction contains the tenant.
  const opens = command === 'BEGIN'
  const name = {
    command,
    table: opens ? undefined : /\b"?hub"?\."?(\w+)"?/i.exec(text)?.[1],
    digest: createHash('sha256')
      .update(opens ? 'begin' : text)
      .digest('hex')
      .slice(0, 16),
  }
  if (names.size >= namesMax) names.clear()
  names.set(text, name)
  return name
}

/** A statement that a connection runs, or a script of several in one round trip (server/db/ingest-script.ts). */
interface Submitted {
  readonly text?: string
  readonly texts?: readonly string[]
  readonly tenantId?: string | undefined
  settle?: (error: Error | null) => void
}

/**
 * Measures every statement of a connection: a span while traces are exported and the statement belongs to a request or
 * job, and a log line if it is slow. Neither contains the text, values or rows.
 */
export function watchStatements(client: pg.ClientBase, watch: StatementWatch): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  let tenant: string | undefined
  const watched = (...args: unknown[]) => {
    const submitted = args[0] as string | Submitted
    const text = textOf(submitted)
    if (text === '') return query(...args)
    tenant = openedFor(text) ?? tenant
    const script = typeof submitted !== 'string' && submitted.texts ? submitted : undefined
    const end = begin(text, script ? script.tenantId : tenant, watch)
    if (text === 'commit' || text === 'rollback') tenant = undefined
    const { settle } = script ?? {}
    if (script && settle) {
      script.settle = (error) => {
        end(error ?? undefined)
        settle(error)
      }
      return query(...args)
    }
    const result = query(...args)
    if (result instanceof Promise) result.then(() => end(), end)
    return result
  }
  client.query = watched as typeof client.query
}

/** Begins to measure a statement. Returns the function that ends it. */
function begin(text: string, tenant: string | undefined, { log, slowMs }: StatementWatch): (error?: unknown) => void {
  const work = currentWork()
  const span = work?.span && startSpan(text, tenant, work.span)
  const beganMs = performance.now()
  return (error) => {
    span?.end(error === undefined ? undefined : { type: String((error as { code?: string }).code ?? 'error') })
    const ms = performance.now() - beganMs
    if (slowMs === 0 || ms < slowMs) return
    const { command, table, digest } = statementName(text)
    const found = { operation: work?.operation, tenant, command, table, statement: digest, ms: Math.round(ms) }
    log?.warn(found, 'slow statement')
  }
}

function startSpan(text: string, tenant: string | undefined, parent: WorkSpan): WorkSpan | undefined {
  const { command, table, digest } = statementName(text)
  const span = tracer()?.start('client', table === undefined ? command : `${command} hub.${table}`, parent)
  span?.set('db.system.name', 'postgresql')
  span?.set('db.operation.name', command)
  if (table !== undefined) span?.set('db.collection.name', `hub.${table}`)
  span?.set('hub.statement', digest)
  if (tenant !== undefined) span?.set('hub.tenant_id', tenant)
  return span
}

/** Returns the tenant that a transaction is opened for (server/db/pooled-database.ts). */
function openedFor(text: string): string | undefined {
  return /^begin\b.*\bset_tenant\('([a-z0-9-]+)'\)/.exec(text)?.[1]
}

/** Returns the text of a statement; of a script, the text of its COPY. Empty for what has none. */
function textOf(submitted: string | Submitted): string {
  if (typeof submitted === 'string') return submitted
  const { text, texts } = submitted
  if (texts) return texts.find((step) => step.startsWith('copy ')) ?? texts[1] ?? ''
  return text ?? ''
}
