import { describedMessages } from '../../contract/webhook-messages.ts'
import { compileSchema } from '../../server/http/request-validation.ts'
import type { QueuedMessage } from '../../server/modules/webhooks/outbox/webhook-outbox.ts'

const checks = describedMessages.map(({ kind, data }) => ({ kind, faultsOf: compileSchema(data) }))

/** The messages, whose data is as the API description says. Throws where it is not. */
export function asDescribed(messages: QueuedMessage[]): QueuedMessage[] {
  for (const { kind, data } of messages) {
    const check = checks.find(({ kind: name }) =>
      name.endsWith('.*') ? kind.startsWith(name.slice(0, -1)) : name === kind,
    )
    const faults = check?.faultsOf(data) ?? 'no such kind'
    if (faults.length > 0) throw new Error(`${kind} is not described so: ${JSON.stringify({ faults, data })}`)
  }
  return messages
}
