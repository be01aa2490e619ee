/**
 * Every page of the web UI, by the path that its router and the server know. `$name` is one segment. The server answers
 * 404 at all other paths.
 */
export const webPages = {
  commandCenter: '/',
  records: '/records',
  record: '/records/$recordId',
  recordGraph: '/records/$recordId/graph',
  governance: '/governance',
  tamperAlerts: '/governance/alarms',
  holds: '/governance/holds',
  certificates: '/governance/certificates',
  retention: '/governance/retention',
  log: '/governance/log',
  exports: '/exports',
  export: '/exports/$jobId',
  onboarding: '/onboarding',
  signIn: '/onboarding/sign-in',
  directory: '/onboarding/directory',
  connectors: '/onboarding/connectors',
  roster: '/onboarding/roster',
  skills: '/onboarding/skills',
  grants: '/onboarding/grants',
  webhooks: '/webhooks',
  webhook: '/webhooks/$webhookId',
  account: '/settings',
  tenant: '/settings/tenant',
  people: '/settings/people',
  serviceAccounts: '/settings/service-accounts',
  prices: '/settings/prices',
} as const

const patterns = Object.values(webPages).map((page) => new RegExp(`^${page.replaceAll(/\$\w+/g, '[^/]+')}/?$`))

/** Tells whether the web UI has a page at a path. A query may follow. */
export function isWebPath(path: string): boolean {
  const [pathname = ''] = path.split(/[?#]/, 1)
  return pathname === '/' || patterns.some((pattern) => pattern.test(pathname))
}
