import type { Static } from 'typebox'
import { bodyBounds, inboundMessageDays } from '../../../contract/limits.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import { type Database, readTenant, type TenantTx } from '../../db/database.ts'
import { parseStrictJson } from '../../http/body/strict-json.ts'
import { type InboundSender, notAdmitted } from './inbound-access.ts'
import type { InboundInvocations, Origin } from './inbound-invocations.ts'
import { messageIdOf, readMessage } from './inbound-message.ts'
import type { InboundPeople } from './inbound-people.ts'
import { type InboundResponse, invocationKind, personKinds } from './inbound-schemas.ts'
import { deleteMessages, isNoted, note } from './inbound-store.ts'

/** Maximum rows per deletion, small enough to end well within the statement timeout. */
const forgottenAtOnce = 10_000

/** The request that contains a message. */
interface InboundCall extends Origin {
  /** Charges the request before it is processed, by whether its message is known. Throws `rate-limited`. */
  count(isKnown: boolean): Promise<void>
}

export type InboundService = ReturnType<typeof createInboundService>
type Receipt = Static<typeof InboundResponse>

export function createInboundService(deps: {
  database: Database
  platformOf: (tx: TenantTx, connectorId: string) => Promise<string | undefined>
  people: InboundPeople
  invocations: InboundInvocations
}) {
  const { database, people, invocations } = deps

  /** Returns the platform of a connector, and whether the message is known. */
  async function look({ tenant, connectionId, kind }: InboundSender, id: string | undefined) {
    return readTenant(database, tenant.slug, async (tx) => ({
      platform: kind === 'connector' ? await deps.platformOf(tx, connectionId) : undefined,
      isKnown: id !== undefined && (await isNoted(tx, connectionId, id)),
    }))
  }

  async function takePerson(sender: InboundSender, body: JsonValue, origin: Origin): Promise<Receipt> {
    const { tenant, connectionId } = sender
    const message = readMessage(body, personKinds, people.problemsIn)
    const actor = { subject: `inbound:${connectionId}`, clientId: connectionId, ...origin }
    return database.withTenant(tenant.slug, async (tx) => {
      const isNew = await note(tx, connectionId, message.id, formatTimestamp(Date.now()))
      if (isNew) await people.apply(tx, tenant, message, { actor })
      return { id: message.id, status: isNew ? 'accepted' : 'duplicate' }
    })
  }

  async function takeInvocation(sender: InboundSender, body: JsonValue, platform: string, origin: Origin) {
    const { tenant, connectionId } = sender
    const message = readMessage(body, [invocationKind], (_, data) => invocations.problemsIn(data, platform))
    const isStored = await invocations.ingest(sender, message, platform, origin)
    // A separate transaction, since the role that stores events can do nothing else. If this one is lost, the event
    // itself identifies the message.
    await database.withTenant(tenant.slug, (tx) => note(tx, connectionId, message.id, formatTimestamp(Date.now())))
    return { id: message.id, status: isStored ? 'accepted' : 'duplicate' } as const
  }

  return {
    /**
     * Processes a message with a valid signature. A known id has no effect. A rejected message is not recorded, so the
     * sender may correct it and send it again with its id. Throws `malformed-json`, `validation-failed`,
     * `concurrent-modification`, the errors of `Telemetry.ingestEvent` and those of `count`.
     */
    async receive(sender: InboundSender, bytes: Buffer, { count, ...origin }: InboundCall): Promise<Receipt> {
      const body = parseStrictJson(bytes, bodyBounds.inbound)
      const id = messageIdOf(body)
      const { platform, isKnown } = await look(sender, id)
      await count(isKnown)
      if (isKnown && id !== undefined) return { id, status: 'duplicate' }
      if (sender.kind === 'scim') return takePerson(sender, body, origin)
      // The connector was removed a moment ago.
      if (platform === undefined) throw notAdmitted()
      return takeInvocation(sender, body, platform, origin)
    },

    chore: {
      name: 'delete old inbound messages',
      run: async (tx: TenantTx) => {
        const before = formatTimestamp(Date.now() - inboundMessageDays * 86_400_000)
        return (await deleteMessages(tx, before, forgottenAtOnce)) === forgottenAtOnce
      },
    },
  }
}
