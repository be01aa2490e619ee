import type { Config } from './config.ts'

/** Lists settings that work but are probably unintended. They are logged once, when the Hub starts to serve. */
export function startupWarnings(config: Pick<Config, 'environment' | 'role' | 'trustedProxies'>): string[] {
  // In development the Hub listens on this machine only; a worker answers nobody.
  if (config.environment === 'development' || config.role === 'worker' || config.trustedProxies.length > 0) return []
  return [
    'HUB_TRUSTED_PROXIES is not set: all callers behind a proxy count as one address in limits, address lists and ' +
      'events. Set it to your proxies. Ignore this warning if you have none',
  ]
}
