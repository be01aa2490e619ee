/** A Map: what a client wrote may be called like something that every object has, such as `constructor`. */
const pages = new Map([
  ['user', '/onboarding/roster'],
  ['service_account', '/settings/service-accounts'],
  ['connection', '/onboarding/sign-in'],
  ['connector', '/onboarding/connectors'],
  ['sync', '/onboarding/directory'],
  ['cowork', '/onboarding/skills'],
  ['skill', '/onboarding/skills'],
  ['republish', '/onboarding/skills'],
  ['archetype', '/onboarding/grants'],
  ['tenant', '/settings/tenant'],
  ['log', '/governance/log'],
  ['keys', '/governance/log'],
  ['seal', '/governance/log'],
])

/** The page where the thing of a subject is looked at; undefined where it has none. */
export function addressOf(kind: string, id: string): string | undefined {
  const part = encodeURIComponent(id)
  if (kind === 'record') return `/records/${part}`
  if (kind === 'hold') return `/governance/holds?hold=${part}`
  if (kind === 'export') return `/exports/${part}`
  if (kind === 'webhook') return `/webhooks/${part}`
  return pages.get(kind)
}
