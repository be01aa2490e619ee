import type { Config } from '../config.ts'
import type { DatabaseLog } from '../db/database.ts'
import { MemoryRateLimiter, type RateLimiter } from '../http/rate-limiter.ts'
import { deriveKey } from '../secrets/encryption.ts'
import { ValkeyConnection } from './valkey-connection.ts'
import { ValkeyLimiter } from './valkey-limiter.ts'

export interface OpenedLimiter {
  limiter: RateLimiter
  close(): Promise<void>
}

/**
 * The limiter that the configuration asks for: through Valkey where there is one, else in the memory of this process.
 * A Valkey that is away does not hold up the start for more than a second or two, and is used once it is there.
 *
 * @param onFallback told whenever limits begin or cease to be counted by this process alone although Valkey is set
 */
export async function openLimiter(options: {
  config: Pick<Config, 'valkeyUrl'>
  masterKey: Buffer
  log: Pick<DatabaseLog, 'info' | 'warn'>
  onFallback?: (isAlone: boolean) => void
}): Promise<OpenedLimiter> {
  const { config, masterKey, log, onFallback } = options
  if (config.valkeyUrl === undefined) return { limiter: new MemoryRateLimiter(), close: async () => {} }
  // The processes of one Hub have one master key. All keys have one hash tag: a script may use any of them together.
  const hub = deriveKey(masterKey, 'name of the Hub in Valkey').toString('hex').slice(0, 12)
  const valkey = new ValkeyConnection({
    url: config.valkeyUrl,
    prefix: `{hub-limits-${hub}}:`,
    log,
    onChange: (isUp) => onFallback?.(!isUp),
  })
  await valkey.start()
  return { limiter: new ValkeyLimiter(valkey), close: () => valkey.close() }
}
