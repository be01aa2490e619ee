import { keyIdOf, type VerifierKey, verifySuccessionSync } from '../../../provenance/index.ts'
import { type Database, readTenant } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { nodeCrypto } from '../../records/node-crypto.ts'
import { type ProvenanceKeyRow, type PublishedKeyRow, provenanceKeys, publishedKeysOf } from './keys-store.ts'
import type { KeyProblem, ProvenanceKeyAudit } from './keys-types.ts'
import { publishedKeyOf, type VerifiedKeys } from './provenance-key.ts'

/** Compares the stored keys of a log with those that decrypt under the master key, and with the published ones. */
export async function auditKeys(
  database: Database,
  genuine: VerifiedKeys,
  { slug, logName }: Pick<Tenant, 'slug' | 'logName'>,
): ReturnType<ProvenanceKeyAudit['auditKeys']> {
  // The reverse of a rotation's write order: a stored key is always published already.
  const stored = await readTenant(database, slug, provenanceKeys)
  const published = await database.withRegistry((tx) => publishedKeysOf(tx, logName))
  const made = stored.filter((row) => row.name === logName && genuine.open(row) !== undefined)
  const problems = [
    ...stored.filter((row) => !made.includes(row)).map(putIn),
    ...successionProblems(made),
    ...publicationProblems(made, published),
  ]
  return { keys: made.map(publishedKeyOf), problems }
}

function putIn({ key_id }: ProvenanceKeyRow): KeyProblem {
  return {
    keyId: key_id,
    check: 'keys_genuine',
    problem: 'its private key is not encrypted with the master key for this key id: it was inserted or changed',
  }
}

/** Checks that no key introduces the first one, and that an earlier key introduces each other one. */
function successionProblems(made: readonly ProvenanceKeyRow[]): KeyProblem[] {
  const check = 'keys_introduced'
  const first = made.find((row) => row.succession === null)
  if (first === undefined) {
    const oldest = made[0]
    if (oldest === undefined) return [{ check: 'keys_genuine', problem: 'the log has no key' }]
    return [
      {
        keyId: oldest.key_id,
        check,
        problem: 'it is the first key of the log, so no other key can have introduced it',
      },
    ]
  }
  const { distrusted } = verifySuccessionSync(ringOf(made), [first.key_id], nodeCrypto)
  return [...distrusted].map(([keyId, problem]) => ({ keyId, check, problem }))
}

/**
 * Checks that each key is published as stored. One further key that never signed is permitted, because a rotation
 * publishes first and may then fail. It needs the introduction of a genuine key, which nobody else can write.
 */
function publicationProblems(made: readonly ProvenanceKeyRow[], published: readonly PublishedKeyRow[]): KeyProblem[] {
  const problems: KeyProblem[] = []
  const check = 'keys_published'
  const rest = new Map(published.map((row) => [row.key_id, row]))
  for (const row of made) {
    const shown = rest.get(row.key_id)
    rest.delete(row.key_id)
    if (shown === undefined) problems.push({ keyId: row.key_id, check, problem: 'it is not among the published keys' })
    else if (!shown.public_key.equals(row.public_key)) {
      problems.push({ keyId: row.key_id, check, problem: 'its published public key was replaced' })
    } else if (shown.succession !== row.succession) {
      problems.push({ keyId: row.key_id, check, problem: 'its published succession was replaced' })
    }
  }
  const { trusted } = verifySuccessionSync(
    ringOf([...made, ...rest.values()]),
    made.map((row) => row.key_id),
    nodeCrypto,
  )
  for (const row of rest.values()) {
    if (isNamedRight(row) && trusted.has(row.key_id)) continue
    problems.push({
      keyId: row.key_id,
      check,
      problem: 'it was inserted among the published keys: the service did not create it',
    })
  }
  return problems
}

function ringOf(rows: readonly PublishedKeyRow[]): Map<string, VerifierKey> {
  return new Map(rows.map((row) => [row.key_id, publishedKeyOf(row)]))
}

function isNamedRight({ key_id, name, public_key }: PublishedKeyRow): boolean {
  return public_key.length === 32 && keyIdOf(name, public_key, nodeCrypto.sha256) === key_id
}
