import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis, type Result } from 'ioredis'

const scriptNames = ['take', 'refund', 'announce'] as const
export type ScriptName = (typeof scriptNames)[number]

/** A script is called with the number of its keys, its keys and its arguments. */
type KeysAndArgs = [keys: number, ...keysAndArgs: (string | number)[]]

declare module 'ioredis' {
  interface RedisCommander<Context> {
    take(...given: KeysAndArgs): Result<number[], Context>
    refund(...given: KeysAndArgs): Result<number[], Context>
    announce(...given: KeysAndArgs): Result<number[], Context>
  }
}

export type LimiterClient = Redis

const connectMsMax = 1000
const reconnectMs = 500
/** A connection on which something is owed for so long is given up. */
const silenceMsMax = 1000

const read = (name: string) => readFileSync(join(import.meta.dirname, `${name}.lua`), 'utf8')

/**
 * A client that connects at once and for ever again, and never keeps a command for later: what it cannot send now, and
 * what was under way on a connection that is lost, rejects.
 *
 * Scripts are sent whole on first use of a connection, by their digest afterwards, and whole again after NOSCRIPT.
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
