import type { Config } from './config.ts'

/** A setting that works but is probably unintended, and how to correct it. */
interface StartupWarning {
  readonly detail: string
  readonly action: string
}

/** Lists unintended settings. They are logged once, when the Hub starts to serve, and `hub doctor` shows them. */
export function startupWarnings(config: Pick<Config, 'environment' | 'role' | 'trustedProxies'>): StartupWarning[] {
  // In development the Hub listens on this machine only; a worker answers nobody.
  if (config.environment === 'development' || config.role === 'worker' || config.trustedProxies.length > 0) return []
  return [
    {
      detail:
        'HUB_TRUSTED_PROXIES is not set: all callers behind a proxy count as one address in limits, address lists ' +
        'and events.',
      action: 'Set it to your proxies. Without a proxy, ignore this warning.',
    },
  ]
}
