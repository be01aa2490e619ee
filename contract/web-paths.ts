/**
 * Every page of the web UI, by the path that its router and the server know. `$name` is one segment. The server answers
 * 404 at all other paths.
 */
export const webPages = {
  commandCenter: '/',
  records: '/records',
  record: '/records/$recordId',
  recordGraph: '/records/$recordId/graph',
  recordProof: '/records/$recordId/proof',
  sessions: '/sessions',
  session: '/sessions/$sessionId',
  trace: '/traces/$traceId',
  skillUsage: '/usage/skills/$skillId',
  personUsage: '/usage/people/$personId',
  modelUsage: '/usage/models/$modelId',
  archetypeUsage: '/usage/archetypes/$archetypeId',
  governance: '/governance',
  tamperAlerts: '/governance/alarms',
  holds: '/governance/holds',
  certificates: '/governance/certificates',
  retention: '/governance/retention',
  log: '/governance/log',
  budgets: '/budgets',
  alertRules: '/budgets/alerts',
  exports: '/exports',
  export: '/exports/$jobId',
  onboarding: '/onboarding',
  skills: '/skills',
  grants: '/skills/grants',
  roster: '/skills/roster',
  connectors: '/skills/connectors',
  webhooks: '/webhooks',
  webhook: '/webhooks/$webhookId',
  account: '/settings',
  tenant: '/settings/tenant',
  people: '/settings/people',
  signIn: '/settings/sign-in',
  directory: '/settings/directory',
  serviceAccounts: '/settings/service-accounts',
  prices: '/settings/prices',
} as const

/** Former paths of pages. The server redirects them. */
export const formerPages = {
  '/onboarding/sign-in': webPages.signIn,
  '/onboarding/directory': webPages.directory,
  '/onboarding/connectors': webPages.connectors,
  '/onboarding/roster': webPages.roster,
  '/onboarding/skills': webPages.skills,
  '/onboarding/grants': webPages.grants,
} as const

const patterns = Object.values(webPages).map((page) => new RegExp(`^${page.replaceAll(/\$\w+/g, '[^/]+')}/?$`))

/** Tells whether the web UI has a page at a path. A query may follow. */
export function isWebPath(path: string): boolean {
  const [pathname = ''] = path.split(/[?#]/, 1)
  return pathname === '/' || patterns.some((pattern) => pattern.test(pathname))
}
