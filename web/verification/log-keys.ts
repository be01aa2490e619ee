import {
  type AsyncCrypto,
  type JsonObject,
  type JsonValue,
  type KeyDocumentEntry,
  type KeyRing,
  ProvenanceError,
  parseKeyDocumentAsync,
  type VerifierKey,
  verifySuccession,
} from '../../provenance/index.ts'
import { readTrust, type Store, type Trust, writeTrust } from './trust-store.ts'

/** The keys of a tenant's log, and which of them this browser trusts. */
export interface LogKeys {
  logName: string
  /** The trusted keys. */
  trusted: KeyRing
  /** Published keys of the log that are not trusted, with the reason. */
  distrusted: ReadonlyMap<string, string>
  /** Problems of the key document as a whole; empty if there are none. */
  problems: readonly string[]
  /** True if the first key was trusted just now (trust on first use). */
  firstUse: boolean
  /** The time of the first use. */
  pinnedAt: string | undefined
  /** False if this browser stores nothing, so that every visit is the first. */
  kept: boolean
}

interface Asked {
  tenant: string
  store: Store
  crypto: AsyncCrypto
  /** The response of `GET /.well-known/provenance-keys.json`. */
  document: JsonValue
  /** The name of the log, from the Hub: trusted only at the first use. */
  logName: string
}

/**
 * Returns the keys to trust. At the first use it trusts the first key of the log (docs/provenance.md, section 4.1);
 * from then on only keys that a trusted key introduces. Stores the trusted keys.
 */
export async function trustedKeys(asked: Asked): Promise<LogKeys> {
  const { tenant, store, document, crypto } = asked
  const pinned = await pinnedKeys(readTrust(store, tenant), crypto)
  const kept = pinned && readTrust(store, tenant)
  const logName = kept?.logName ?? asked.logName
  const problems: string[] = []
  if (kept && kept.logName !== asked.logName) {
    problems.push(`The Hub names the log ${asked.logName}; this browser knows the log of ${tenant} as ${kept.logName}.`)
  }
  let published: KeyRing = new Map()
  try {
    published = await parseKeyDocumentAsync(document, crypto.sha256)
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
    problems.push(`The published keys cannot be read: ${error.message}.`)
  }
  const all = new Map([...(pinned ?? []), ...published].filter(([, { name }]) => name === logName))
  const withdrawn = [...(pinned?.keys() ?? [])].filter((keyId) => !published.has(keyId))
  for (const keyId of withdrawn) problems.push(`Key ${keyId}, which this browser knows, is not published any more.`)

  const first = pinned ? [...pinned.keys()] : beginnings(all, logName, problems)
  const { trusted: trustedIds, distrusted } = await verifySuccession(all, first, crypto)
  for (const [keyId, reason] of distrusted) {
    problems.push(`Key ${keyId} is published for this log, and no key that is known here introduces it: ${reason}.`)
  }
  const trusted = new Map([...all].filter(([keyId]) => trustedIds.has(keyId)))
  const pinnedAt = kept?.pinnedAt ?? (trusted.size > 0 ? new Date().toISOString() : undefined)
  const isKept =
    pinnedAt !== undefined &&
    (trusted.size === pinned?.size || keep(store, tenant, { logName, pinnedAt }, [...trusted.keys()], document, kept))
  return { logName, trusted, distrusted, problems, firstUse: kept === undefined, pinnedAt, kept: isKept }
}

/** Returns undefined before the first use. Treats unreadable data as absent. */
async function pinnedKeys(kept: Trust | undefined, crypto: AsyncCrypto): Promise<KeyRing | undefined> {
  if (!kept) return undefined
  try {
    return await parseKeyDocumentAsync({ keys: kept.keys } as unknown as JsonObject, crypto.sha256)
  } catch (error) {
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}

/** Returns, at the first use, the one key that names no predecessor. */
function beginnings(keys: KeyRing, logName: string, problems: string[]): string[] {
  const found = [...keys.values()].filter(({ succession }: VerifierKey) => succession === undefined)
  if (found.length === 1) return [found[0]!.keyId]
  problems.push(
    found.length === 0
      ? `No first key is published for the log ${logName}.`
      : `${found.length} keys claim to be the first of the log ${logName}: ${found.map(({ keyId }) => keyId).join(', ')}. All but one were put in.`,
  )
  return []
}

function keep(
  store: Store,
  tenant: string,
  { logName, pinnedAt }: Pick<Trust, 'logName' | 'pinnedAt'>,
  trusted: readonly string[],
  document: JsonValue,
  kept: Trust | undefined,
): boolean {
  const published = (document as { keys?: readonly KeyDocumentEntry[] }).keys ?? []
  const entries = [...(kept?.keys ?? []), ...published]
  const keys = trusted.flatMap((keyId) => entries.find(({ key_id }) => key_id === keyId) ?? [])
  // Another verification or tab may have stored a state of the same log meanwhile.
  const checkpoint = readTrust(store, tenant)?.checkpoint ?? kept?.checkpoint
  return writeTrust(store, tenant, { ...kept, logName, pinnedAt, keys, ...(checkpoint && { checkpoint }) })
}
