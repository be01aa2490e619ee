import { usageAddress } from '../../components/usage-address.ts'

/** A Map, because a client's text may equal the name of a member that every object has, such as `constructor`. */
const pages = new Map([
  ['budget', '/budgets'],
  ['service_account', '/settings/service-accounts'],
  ['connection', '/settings/sign-in'],
  ['connector', '/skills/connectors'],
  ['sync', '/settings/directory'],
  ['cowork', '/skills'],
  ['republish', '/skills'],
  ['tenant', '/settings/tenant'],
  ['log', '/governance/log'],
  ['keys', '/governance/log'],
  ['seal', '/governance/log'],
])

/** Returns the page of a subject; undefined if it has none. */
export function addressOf(kind: string, id: string): string | undefined {
  const part = encodeURIComponent(id)
  if (kind === 'record') return `/records/${part}`
  if (kind === 'hold') return `/governance/holds?hold=${part}`
  if (kind === 'export') return `/exports/${part}`
  if (kind === 'webhook') return `/webhooks/${part}`
  if (kind === 'user' || kind === 'skill' || kind === 'archetype') return usageAddress(kind, id)
  return pages.get(kind)
}

/** Splits `webhook:whk_…` into kind and id; a subject without a kind is all id. */
export function partsOf(subject: string): { kind: string; id: string } {
  const at = subject.indexOf(':')
  return at > 0 ? { kind: subject.slice(0, at), id: subject.slice(at + 1) } : { kind: '', id: subject }
}

/** Returns the end of a random id, which differs, and the whole of a chosen id (a skill, a tenant). */
export function shortId(id: string): string {
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)
  const isRandom = /^[a-z]{2,4}_?[A-Za-z0-9_-]{22,}$/.test(id) && /[A-Z]/.test(id)
  return isUuid || isRandom ? `…${id.slice(-8)}` : id
}
