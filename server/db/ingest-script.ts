import type { Duplex } from 'node:stream'
import type pg from 'pg'
import { isRollback, isWarning, type Notice } from './database-errors.ts'

/** A statement that is prepared once per connection. Its values are bound; a Buffer is sent in binary. */
export interface PreparedStatement {
  readonly name: string
  readonly text: string
}

/** One step of an ingest transaction. */
export type IngestStep =
  | { readonly statement: PreparedStatement; readonly values: readonly (string | Buffer | null)[] }
  /** `COPY … FROM STDIN`, and all its data. */
  | { readonly copy: string; readonly data: Buffer }

/** Signals that PostgreSQL refused a step; the transaction was rolled back. */
export class IngestStepRejected extends Error {
  /** The index of the step. */
  readonly step: number
  /** The SQLSTATE. */
  readonly code: string | undefined

  constructor(step: number, cause: Error) {
    super(cause.message, { cause })
    this.step = step
    this.code = (cause as pg.DatabaseError).code
  }
}

const setTenant: PreparedStatement = { name: 'hub_set_tenant', text: 'select hub.set_tenant($1)' }

/** The interface that `pg` gives a query to write its messages with. */
interface MessageWriter {
  readonly stream: Duplex
  parse(message: { name: string; text: string; types: number[] }): void
  bind(message: { statement: string; values: readonly (string | Buffer | null)[] }): void
  execute(message: { rows: number }): void
  sync(): void
}

/** Holds the names of the statements that a connection has prepared. */
const preparedBy = new WeakMap<pg.ClientBase, Set<string>>()

/**
 * Runs the steps in one transaction and one round trip: all messages, with the data of every COPY, are written at once.
 * Up to the final Sync they form one implicit transaction. It commits there, or the first error rolls it back and
 * PostgreSQL skips the rest (documentation of the protocol, "Pipelining" and "COPY Operations").
 *
 * @param localSettings for a connection through a pooler: the statement with the settings of the transaction. Nothing is
 * prepared by name then.
 * @throws IngestStepRejected; any other error if the connection broke or the commit failed or gave a warning: the
 * transaction may then have been committed
 */
export async function runScript(
  client: pg.ClientBase,
  tenantId: string,
  steps: readonly IngestStep[],
  localSettings?: string,
): Promise<void> {
  const isPooled = localSettings !== undefined
  const settings: IngestStep[] = isPooled ? [{ statement: { name: '', text: localSettings }, values: [] }] : []
  const script: IngestStep[] = [...settings, { statement: setTenant, values: [tenantId] }, ...steps]
  if (!isPooled) await prepare(client, script)
  const exchange = new Exchange(script.length, (connection) => {
    for (const step of script) {
      if ('copy' in step) sendCopy(connection, step.copy, step.data)
      else if (isPooled) sendUnnamed(connection, step.statement.text, step.values)
      else sendStatement(connection, step.statement.name, step.values)
    }
  })
  exchange.tenantId = tenantId
  exchange.texts = [`begin; ${setTenant.text}`, ...steps.map(textOf), 'commit']
  try {
    await submit(client, exchange)
  } catch (error) {
    if (!exchange.isRefused) throw error
    throw new IngestStepRejected(exchange.completed - (script.length - steps.length), error as Error)
  }
}

const textOf = (step: IngestStep) => ('copy' in step ? step.copy : step.statement.text)

/**
 * Prepares statements outside of the script, because preparing a name twice is an error, and a script may fail
 * half-way.
 */
async function prepare(client: pg.ClientBase, script: readonly IngestStep[]): Promise<void> {
  const prepared = preparedBy.get(client) ?? new Set()
  preparedBy.set(client, prepared)
  const missing = new Map<string, string>()
  for (const step of script) {
    if ('statement' in step && !prepared.has(step.statement.name)) missing.set(step.statement.name, step.statement.text)
  }
  if (missing.size === 0) return
  await submit(
    client,
    new Exchange(0, (connection) => {
      for (const [name, text] of missing) connection.parse({ name, text, types: [] })
    }),
  )
  for (const name of missing.keys()) prepared.add(name)
}

type Values = readonly (string | Buffer | null)[]

function sendStatement(connection: MessageWriter, statement: string, values: Values): void {
  connection.bind({ statement, values })
  connection.execute({ rows: 0 })
}

function sendUnnamed(connection: MessageWriter, text: string, values: Values): void {
  connection.parse({ name: '', text, types: [] })
  sendStatement(connection, '', values)
}

const copyDataType = 0x64
const copyDone = Buffer.from([0x63, 0, 0, 0, 4])

function sendCopy(connection: MessageWriter, text: string, data: Buffer): void {
  sendUnnamed(connection, text, [])
  const head = Buffer.allocUnsafe(5)
  head[0] = copyDataType
  head.writeUInt32BE(data.length + 4, 1)
  connection.stream.write(head)
  connection.stream.write(data)
  connection.stream.write(copyDone)
}

function submit(client: pg.ClientBase, exchange: Exchange): Promise<void> {
  return new Promise((resolve, reject) => {
    const onNotice = (notice: Notice) => exchange.handleNotice(notice)
    client.on('notice', onNotice)
    exchange.settle = (error) => {
      client.off('notice', onNotice)
      if (error === null) resolve()
      else reject(error)
    }
    client.query(exchange as unknown as pg.Submittable)
  })
}

/** Takes over a connection of `pg`: writes all messages, then reads the responses to the end. */
class Exchange {
  /** The texts that it runs, for observers of statements; the implicit transaction appears as an explicit one. */
  texts: readonly string[] = []
  /** The tenant of the script, for observers. */
  tenantId: string | undefined
  /** Number of steps that PostgreSQL has completed. */
  completed = 0
  /** Whether PostgreSQL answered with an error, as opposed to a lost connection. */
  isRefused = false
  settle: (error: Error | null) => void = () => {}
  private warning: Error | null = null
  private readonly expected: number
  private readonly send: (connection: MessageWriter) => void

  constructor(expected: number, send: (connection: MessageWriter) => void) {
    this.expected = expected
    this.send = send
  }

  submit(connection: MessageWriter): void {
    // Writes all messages to the socket at once.
    connection.stream.cork()
    this.send(connection)
    connection.sync()
    connection.stream.uncork()
  }

  handleCommandComplete(): void {
    this.completed++
  }

  handleReadyForQuery(): void {
    if (this.completed === this.expected) this.settle(this.warning)
    else this.settle(new Error(`${this.completed} of ${this.expected} steps returned a result`))
  }

  /** Keeps a warning of the commit, which comes after the last step. */
  handleNotice(notice: Notice): void {
    if (this.completed === this.expected && isWarning(notice)) this.warning = new Error(notice.message)
  }

  handleError(error: Error & { code?: string }): void {
    this.isRefused = isRollback(error)
    this.settle(error)
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCopyInResponse(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
}
