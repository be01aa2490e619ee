import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis, type Result } from 'ioredis'

const scriptNames = ['consume', 'refund', 'heartbeat'] as const
export type ScriptName = (typeof scriptNames)[number]

/** The arguments of a script: the number of its keys, its keys and its other arguments. */
type KeysAndArgs = [keys: number, ...keysAndArgs: (string | number)[]]

declare module 'ioredis' {
  interface RedisCommander<Context> {
    consume(...given: KeysAndArgs): Result<number[], Context>
    refund(...given: KeysAndArgs): Result<number[], Context>
    heartbeat(...given: KeysAndArgs): Result<number[], Context>
  }
}

export type LimiterClient = Redis

const connectMsMax = 1000
const reconnectMs = 500
/** Milliseconds without a response after which a connection is given up. */
const silenceMsMax = 1000

const read = (name: string) => readFileSync(join(import.meta.dirname, `${name}.lua`), 'utf8')

/**
 * Creates a client that reconnects at once and for ever, and never queues a command: a command that it cannot send, or
 * whose connection is lost, rejects.
 * It sends a script in full on first use of a connection, by its digest afterwards, and in full again after NOSCRIPT.
 */
export function createClient(url: string): LimiterClient {
  const client = new Redis(url.replace(/^valkey/, 'redis'), {
    protocol: 2,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: connectMsMax,
    socketTimeout: silenceMsMax,
    maxLoadingRetryTime: reconnectMs,
    retryStrategy: () => reconnectMs,
    disableClientInfo: true,
  })
  const slots = read('slots')
  for (const name of scriptNames) client.defineCommand(name, { lua: `${slots}\n${read(name)}` })
  return client
}
