import type { Static } from 'typebox'
import { DomainError, type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { webhookAddressTestsAtOnce } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { testEventKind } from '../../../../contract/webhook-events.ts'
import type { ValidParts } from '../../../http/body/valid-parts.ts'
import type { Caller } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import type { RedactedUrl } from '../../../secrets/redacted-url.ts'
import { makeSigningSecret } from '../../../secrets/signing-secrets.ts'
import { problemsOfSettings } from '../endpoints/webhook-settings.ts'
import { attemptDelivery } from '../worker/attempt.ts'
import type { AddressTestBody, AddressTestSchema } from './deliveries-schemas.ts'

const data = JSON.stringify({ message: 'A test of this address. Nothing has happened.' })
const retryAfterSeconds = 5

export type AddressTests = ReturnType<typeof createAddressTests>

/** Sends test messages to addresses of endpoints that are not saved, as a delivery is sent: same client, same signature. */
export function createAddressTests(
  deps: Pick<ModuleParts, 'database' | 'governance' | 'clock'> & {
    outbound: Pick<Outbound, 'post' | 'problemOf'>
    describeUrl: (tenantId: string, url: string) => RedactedUrl
  },
) {
  /** The number of running tests by tenant. A receiver may take as long as the timeout to respond. */
  const running = new Map<string, number>()

  function begin(slug: string): () => void {
    const count = running.get(slug) ?? 0
    if (count >= webhookAddressTestsAtOnce) {
      const detail = `The tenant runs ${webhookAddressTestsAtOnce} tests of addresses already. Wait for one to end.`
      throw new DomainError('rate-limited', detail, { retryAfterSeconds })
    }
    running.set(slug, count + 1)
    return () => {
      const left = (running.get(slug) ?? 1) - 1
      if (left === 0) running.delete(slug)
      else running.set(slug, left)
    }
  }

  return {
    /** Returns the problems of the address beyond its shape. */
    problemsIn: ({ url }: ValidParts<Static<typeof AddressTestBody>>): PointedError[] =>
      problemsOfSettings({ url }, deps.outbound),

    /** Sends one signed message. Throws `validation-failed` for a forbidden address, and `rate-limited`. */
    async run(
      caller: Caller,
      { url, format = 'hub' }: Static<typeof AddressTestBody>,
    ): Promise<Static<typeof AddressTestSchema>> {
      const { tenant } = caller
      const problems = problemsOfSettings({ url }, deps.outbound)
      if (problems.length > 0) throw validationFailed(problems)
      const end = begin(tenant.slug)
      try {
        await deps.database.withTenant(tenant.slug, async (tx) => {
          const details = { change: 'webhook_address_tested', ...deps.describeUrl(tx.tenantId, url) }
          const subject = `tenant:${tenant.slug}`
          await deps.governance.append(tx, tenant, { kind: 'tenant.config_changed', subject, details, actor: caller })
        })
        const secret = makeSigningSecret()
        const message = {
          ...{ message_id: deps.clock.next().recordId, kind: testEventKind, sequence: 1, data },
          occurred_at: formatTimestamp(Date.now()),
        }
        const target = { tenantSlug: tenant.slug, url, format, secrets: [secret] }
        // The client ends the attempt after the timeout of deliveries.
        const attempt = await attemptDelivery(deps.outbound, target, message, new AbortController().signal)
        return { ok: attempt.error === undefined, attempt, secret }
      } finally {
        end()
      }
    },
  }
}
