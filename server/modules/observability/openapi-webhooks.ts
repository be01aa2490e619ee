import { type DescribedMessage, describedMessages, messageSchema } from '../../../contract/webhook-messages.ts'
import { exampleOf } from './openapi-examples.ts'

/** What the Hub sends to the endpoints of a tenant: `webhooks` of the document, by the kind of the message. */
export function describedWebhooks(): Record<string, unknown> {
  return Object.fromEntries(describedMessages.map((message) => [message.kind, { post: describeMessage(message) }]))
}

function describeMessage(message: DescribedMessage): Record<string, unknown> {
  const schema = messageSchema(message)
  return {
    tags: ['Webhooks'],
    summary: message.summary,
    parameters: [
      header(
        'X-Service-Signature',
        '`t=<seconds since 1970>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>` by the secret',
        ['t=1782898200,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd'],
      ),
      header('X-Service-Webhook-Id', '`id` of the body', ['019a2f64-51c8-7a10-8d42-5b1f0e9c7a64']),
      header('X-Service-Tenant', 'Slug', ['acme']),
    ],
    requestBody: { required: true, content: { 'application/json': { schema, example: exampleOf(schema) } } },
    responses: {
      '2XX': { description: 'Taken. The beginning of its body is shown with the delivery.' },
      '410': { description: 'The receiver is gone: the endpoint is disabled.' },
      default: { description: 'Not taken, and attempted again, not before `Retry-After` of a 429 or 503.' },
    },
    security: [],
  }
}

function header(name: string, description: string, examples: string[]) {
  return { name, in: 'header', required: true, description, schema: { type: 'string', examples } }
}
