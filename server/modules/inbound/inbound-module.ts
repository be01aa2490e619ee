import type { FastifyInstance } from 'fastify'
import {
  inboundMessageDays,
  webhookSignatureAgeSeconds,
  webhookSignatureAheadSeconds,
} from '../../../contract/limits.ts'
import { signatureHeader } from '../../../contract/webhook-signature.ts'
import type { TenantTx } from '../../db/database.ts'
import { addRoute } from '../../http/route.ts'
import type { TenantChore } from '../../jobs/housekeeping.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Directory } from '../roster/directory/directory-types.ts'
import type { ResourceReader } from '../roster/sync/sync-types.ts'
import type { Telemetry } from '../telemetry/telemetry-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { createInboundAccess, type InboundAccess, notAdmitted } from './inbound-access.ts'
import { createInboundInvocations } from './inbound-invocations.ts'
import { createInboundPeople } from './inbound-people.ts'
import { InboundBody, InboundParams, InboundResponse } from './inbound-schemas.ts'
import type { InboundSecretVault } from './inbound-secrets.ts'
import { createInboundService, type InboundService } from './inbound-service.ts'

/** Creates the receiver of signed messages from identity providers and chat platforms. */
export function createInboundModule(
  deps: Pick<ModuleParts, 'database' | 'masterKey'> & {
    vault: InboundSecretVault
    tenants: TenantDirectory
    /** Returns the platform of a connector; undefined if it does not exist or was removed. */
    platformOf: (tx: TenantTx, connectorId: string) => Promise<string | undefined>
    telemetry: Telemetry
    directory: Directory
    reader: ResourceReader
  },
) {
  const access = createInboundAccess(deps)
  const people = createInboundPeople(deps)
  const inbound = createInboundService({ ...deps, people, invocations: createInboundInvocations(deps) })
  const chores: readonly TenantChore[] = [inbound.chore]
  return { chores, routes: (app: FastifyInstance) => addInboundRoutes(app, access, inbound) }
}

function addInboundRoutes(app: FastifyInstance, access: InboundAccess, inbound: InboundService): void {
  addRoute(
    app,
    'receiveInbound',
    {
      description:
        'The header `X-Service-Signature: t=<seconds since 1970>,v1=<hex>` has the HMAC-SHA256 of `<t>.<raw body>`, ' +
        `keyed with the whole secret. \`t\` is at most ${webhookSignatureAgeSeconds} seconds ago, and ` +
        `${webhookSignatureAheadSeconds} ahead. Every fault of connection, signature or time returns the same ` +
        `401. A message whose \`id\` was accepted within ${inboundMessageDays} days returns 200 and has no effect, ` +
        'regardless of its content; a refused message can be sent again. `user.provisioned` and `user.updated` create ' +
        'or change the person as SCIM does: roles stay, and the last administrator is not deactivated (409). ' +
        '`user.deactivated` of an unknown person returns 200 and has no effect. `skill.invoked` is stored as a ' +
        '`telemetry_event` record created by the connector. The body must not be compressed.',
      params: InboundParams,
      body: InboundBody,
      bodyFormat: 'bytes',
      credentials: ['signature'],
      response: { 200: InboundResponse },
      problems: ['content-not-allowed', 'skill-not-registered', 'hub-not-provisioned', 'concurrent-modification'],
    },
    async (request) => {
      const connectionId = request.params.connection_id
      const header = request.headers[signatureHeader]
      const body = request.body ?? Buffer.alloc(0)
      const sender = await access.open({
        connectionId,
        header: typeof header === 'string' ? header : undefined,
        body,
        hostTenant: request.hostTenant,
      })
      if (!sender) throw notAdmitted()
      request.hubTenant = sender.tenant
      const { credentialCharges: charges, callerAddress: address, id: requestId } = request
      const id = `inbound ${connectionId}`
      return inbound.receive(sender, body, {
        ...{ address, requestId },
        // Anyone who captured a message can repeat it, which must not use up the sender's limit.
        count: (isKnown) => (isKnown ? charges.attempt(id) : charges.succeed(id, sender.tenant.slug)),
      })
    },
  )
}
