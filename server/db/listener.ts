import { Socket } from 'node:net'
import pg from 'pg'
import { backoff } from '../../contract/backoff.ts'
import { type ConnectionTarget, clientConfig } from './connection-settings.ts'
import type { DatabaseLog, Listener } from './database.ts'

const reconnectMs = { first: 100, max: 10_000 }

/** Implements `Database.listen`. The connection reconnects with growing backoff and does not keep the process alive. */
export function openListener(
  target: ConnectionTarget,
  channel: string,
  wake: (payload?: string) => void,
  log: DatabaseLog | undefined,
): Listener {
  let closed = false
  let retries = 0
  let socket: Socket | undefined
  let timer: NodeJS.Timeout | undefined

  function connectLater(error: unknown): void {
    if (closed) return
    // Logs once for each outage. Listeners work without notifications meanwhile.
    if (retries === 0) log?.warn({ err: error, channel }, 'the listener for database notifications failed')
    timer = setTimeout(() => void connect(), backoff(retries, reconnectMs)).unref()
    retries += 1
  }

  async function connect(): Promise<void> {
    const own = new Socket().unref()
    socket = own
    const client = new pg.Client({ ...clientConfig(target, 'hub-listen'), stream: () => own })
    let lost = false
    const onLost = (error: unknown) => {
      if (lost) return
      lost = true
      own.destroy()
      connectLater(error)
    }
    client.on('error', onLost)
    client.on('end', () => onLost(new Error('the connection ended')))
    client.on('notification', ({ payload }) => wake(payload))
    try {
      await client.connect()
      await client.query(`listen ${pg.escapeIdentifier(channel)}`)
      retries = 0
      wake()
    } catch (error) {
      onLost(error)
    }
  }

  void connect()
  return {
    close() {
      closed = true
      clearTimeout(timer)
      // PostgreSQL treats the end of an idle connection as a farewell, so there is nothing to wait for.
      socket?.destroy()
    },
  }
}
