import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { DomainError } from '../../../contract/domain-error.ts'
import { parseSignature, problemOfAge, type SignatureParts } from '../../../contract/webhook-signature.ts'
import { type Database, readTenant } from '../../db/database.ts'
import { isServedAt, type Tenant } from '../../http/caller.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import type { InboundSecretVault } from './inbound-secrets.ts'
import { findSecret, tenantOfConnection } from './inbound-store.ts'
import type { InboundKind } from './inbound-types.ts'

/** Random secret for messages without a stored one, so that the check takes as long. */
const dummySecret = randomBytes(32).toString('hex')

const dummyParts: SignatureParts = { timestamp: '0', seconds: 0, signatures: ['0'.repeat(64)] }

/** Stands in for an unknown tenant. A tenant of this name may exist, since the result is not used. */
const anySlug = 'nobody'

/** The origin of an authenticated message. */
export interface InboundSender {
  tenant: Tenant
  connectionId: string
  kind: InboundKind
}

interface SignedMessage {
  connectionId: string
  /** Value of `X-Service-Signature`. */
  header: string | undefined
  body: Uint8Array
  /** The tenant of the request's host, if that is a tenant's own host. */
  hostTenant: Tenant | null
}

export type InboundAccess = ReturnType<typeof createInboundAccess>

/**
 * Authenticates messages. An unknown connection, a tenant that is suspended or not served at this host, and a wrong
 * signature take the same steps, in the database too, so that nobody learns which it was. Nothing is cached, so that a
 * connection in use is not rejected sooner than another.
 */
export function createInboundAccess(deps: {
  database: Database
  tenants: Pick<TenantDirectory, 'read'>
  vault: InboundSecretVault
}) {
  const { database, tenants, vault } = deps
  return {
    /** Returns the sender of an authentic message; undefined for any failure. */
    async open({ connectionId, header, body, hostTenant }: SignedMessage): Promise<InboundSender | undefined> {
      const slug = await database.withRegistry((tx) => tenantOfConnection(tx, connectionId))
      const found = await tenants.read(slug ?? anySlug)
      const tenant = slug !== undefined && found && isServedAt(hostTenant?.slug, found) ? found : undefined
      const secrets = await readTenant(database, slug ?? anySlug, async (tx) => {
        const row = await findSecret(tx, connectionId)
        return row && tenant ? { kind: row.kind, ...(await vault.decrypt(tx, tenant, row)) } : undefined
      })
      const isGood = isSigned({ header, body }, secrets ?? { current: undefined, former: undefined }, Date.now())
      return isGood && tenant && secrets ? { tenant, connectionId, kind: secrets.kind } : undefined
    },
  }
}

/** Creates the only 401 of inbound messages. */
export function notAdmitted(): DomainError {
  return new DomainError(
    'authentication-failed',
    'The message has no current signature of this connection. Sign `<t>.<raw body>` with its secret, and send ' +
      'X-Service-Signature: t=<seconds since 1970>,v1=<hex of the HMAC-SHA256>.',
  )
}

/**
 * Returns whether a message has a current signature by either secret (interface section 5, rule 7). Does the same work
 * for every failure: it also checks malformed headers and connections without secrets, and fails.
 *
 * @param body as it was received
 * @param nowMs milliseconds since 1970
 */
export function isSigned(
  message: { header: string | undefined; body: Uint8Array },
  secrets: { current: string | undefined; former: string | undefined },
  nowMs: number,
): boolean {
  const parsed = parseSignature(message.header ?? '')
  const parts = 'problem' in parsed ? dummyParts : parsed
  const given = parts.signatures.map((signature) => Buffer.from(signature, 'hex'))
  let isGenuine = false
  for (const secret of [secrets.current, secrets.former]) {
    const expected = createHmac('sha256', secret ?? dummySecret)
      .update(`${parts.timestamp}.`)
      .update(message.body)
      .digest()
    for (const each of given) {
      const isSame = timingSafeEqual(expected, each)
      if (isSame && secret !== undefined) isGenuine = true
    }
  }
  return isGenuine && problemOfAge(parts, nowMs / 1000) === undefined
}
