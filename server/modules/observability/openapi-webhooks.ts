import { webhookResponseSeconds } from '../../../contract/limits.ts'
import { type DescribedMessage, describedMessages, messageSchema } from '../../../contract/webhook-messages.ts'
import { exampleOf } from './openapi-examples.ts'

/**
 * Returns the messages that the Hub sends to the endpoints of a tenant: `webhooks` of the document, by the kind of the
 * message.
 */
export function describedWebhooks(): Record<string, unknown> {
  return Object.fromEntries(describedMessages.map((message) => [message.kind, { post: describeMessage(message) }]))
}

function describeMessage(message: DescribedMessage): Record<string, unknown> {
  const schema = messageSchema(message)
  return {
    operationId: `on${message.kind.replaceAll(/(?:^|[._*]+)([a-z]|$)/g, (_, letter: string) => letter.toUpperCase())}`,
    tags: ['Webhooks'],
    summary: message.summary,
    description:
      'Sent to each subscribed endpoint, at least once and not always in order. The body is compact JSON in ' +
      'UTF-8; verify the signature over its bytes before parsing.',
    parameters: [
      header(
        'X-Service-Signature',
        '`t=<seconds since 1970>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>`, keyed with the whole secret of the ' +
          'endpoint. With two `v1` for a day after the secret was rotated. `t` is of the attempt.',
        't=1782898200,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
      ),
      header('X-Service-Webhook-Id', '`id` of the body', '019a2f64-51c8-7a10-8d42-5b1f0e9c7a64'),
      header('X-Service-Tenant', '`tenant` of the body', 'acme'),
    ],
    requestBody: { required: true, content: { 'application/json': { schema, example: exampleOf(schema) } } },
    responses: {
      '2XX': {
        description: `Accepted. The response must arrive within ${webhookResponseSeconds} seconds; its body is not read.`,
      },
      '410': { description: 'The receiver no longer exists: the Hub disables the endpoint.' },
      '429': busy,
      '503': busy,
      default: { description: 'Not accepted. The message is sent again, as after a missing response.' },
    },
    security: [],
  }
}

const busy = {
  description: 'Not accepted. The message is sent again, not before the given time.',
  headers: {
    'Retry-After': {
      description: 'Seconds, or an HTTP date; at most a day',
      schema: { type: 'string', examples: ['120'] },
    },
  },
}

function header(name: string, description: string, example: string) {
  return { name, in: 'header', required: true, description, schema: { type: 'string', examples: [example] } }
}
