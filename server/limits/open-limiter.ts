import type { Config } from '../config.ts'
import type { DatabaseLog } from '../db/database.ts'
import { MemoryRateLimiter, type RateLimiter } from '../http/rate-limits/rate-limiter.ts'
import { deriveKey } from '../secrets/encryption.ts'
import { ValkeyConnection } from './valkey-connection.ts'
import { ValkeyLimiter } from './valkey-limiter.ts'

export interface OpenedLimiter {
  limiter: RateLimiter
  close(): Promise<void>
}

/**
 * Opens the configured limiter: through Valkey if its URL is set, else in the memory of this process. An unavailable
 * Valkey delays the start by at most two seconds, and is used once it answers.
 *
 * @param onFallback called whenever this process starts or stops counting alone although Valkey is set
 */
export async function openLimiter(options: {
  config: Pick<Config, 'valkeyUrl'>
  masterKey: Buffer
  log: Pick<DatabaseLog, 'info' | 'warn'>
  onFallback?: (isAlone: boolean) => void
}): Promise<OpenedLimiter> {
  const { config, masterKey, log, onFallback } = options
  if (config.valkeyUrl === undefined) return { limiter: new MemoryRateLimiter(), close: async () => {} }
  // All processes of one Hub share a master key. All keys share one hash tag, so a script may use any of them together.
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
