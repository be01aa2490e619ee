import { Type } from 'typebox'
import { webhookAttemptsKept, webhookBodyCharactersKept, webhookRedeliveriesMax } from '../../../../contract/limits.ts'
import { patterns } from '../../../../contract/literals.ts'
import { object } from '../../../../contract/object-schema.ts'
import { PageQuery } from '../../../../contract/request-schemas.ts'
import { NextCursor } from '../../../../contract/response-schemas.ts'
import { deliveryErrors, deliveryStatuses, meaningsOf, wordsOf } from '../../../../contract/webhook-deliveries.ts'
import { Format, Url, WebhookId } from '../endpoints/webhooks-schemas.ts'

const exampleDelivery = '019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'
const exampleMessage = '019a2f64-51c8-7a10-8d42-5b1f0e9c7a64'
const exampleTime = '2026-07-01T09:30:00.000000Z'
const exampleKind = 'user.provisioned'

const DeliveryId = Type.String({
  pattern: patterns.uuid,
  description: 'Id of the delivery',
  examples: [exampleDelivery],
})
const time = (description: string) => Type.String({ description, examples: [exampleTime] })
const Status = Type.Enum(wordsOf(deliveryStatuses), {
  description: meaningsOf(deliveryStatuses),
  examples: ['delivered'],
})
const Headers = (description: string, example: Record<string, string>) =>
  Type.Record(Type.String(), Type.String(), { description, examples: [example] })

export const LoneDeliveryParams = object({ delivery_id: DeliveryId })
export const DeliveryParams = object({ webhook_id: WebhookId, delivery_id: DeliveryId })

export const DeliveriesQuery = object({
  ...PageQuery.properties,
  status: Type.Optional(Status),
  kind: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: 'Kind of the message', examples: [exampleKind] }),
  ),
  created_at__gte: Type.Optional(time('RFC 3339; queued at or after this time')),
  created_at__lt: Type.Optional(time('RFC 3339; queued before this time')),
})

export const RedeliverBody = object({
  since: time('RFC 3339; messages queued at or after this time'),
  until: Type.Optional(time('RFC 3339; messages queued before this time; default is now')),
  status: Type.Optional(
    Type.Enum(['failed', 'dead', 'delivered'], {
      description: 'Only deliveries with this status; default is `failed` and `dead`',
      examples: ['dead'],
    }),
  ),
})

export const AttemptSchema = object({
  at: time('Start time'),
  duration_ms: Type.Integer({
    minimum: 0,
    description: 'Duration until the response headers or the failure',
    examples: [84],
  }),
  url: Type.String({ description: 'Address of the receiver', examples: ['https://acme.example/hooks/hub'] }),
  request_headers: Headers('Request headers, names in lower case; empty if nothing was sent', {
    'content-type': 'application/json',
    'user-agent': 'org-memory-hub',
    'x-service-tenant': 'acme',
    'x-service-webhook-id': exampleMessage,
    'x-service-signature': 't=1782898200,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
  }),
  response: Type.Optional(
    object(
      {
        status: Type.Integer({ description: 'HTTP status', examples: [200] }),
        headers: Headers('The first response headers, names in lower case', { 'content-type': 'text/plain' }),
        body: Type.Optional(
          Type.String({
            description: `The first ${webhookBodyCharactersKept.toLocaleString('en')} characters, if it is text`,
            examples: ['ok'],
          }),
        ),
      },
      { description: 'Absent without a response' },
    ),
  ),
  error: Type.Optional(
    object(
      {
        code: Type.Enum(wordsOf(deliveryErrors), { description: meaningsOf(deliveryErrors), examples: ['http-5xx'] }),
        detail: Type.String({
          description: 'Explanation for people',
          examples: ['The receiver answered 500, which is no success.'],
        }),
      },
      { description: 'Reason for the failure; absent if the attempt succeeded' },
    ),
  ),
  retry_after_seconds: Type.Optional(
    Type.Number({ minimum: 0, description: 'Delay that the receiver requested (`Retry-After`)', examples: [120] }),
  ),
})

const deliveryMembers = {
  delivery_id: DeliveryId,
  webhook_id: WebhookId,
  message_id: Type.String({
    description: '`id` of the body and `X-Service-Webhook-Id`; equal for all endpoints and attempts',
    examples: [exampleMessage],
  }),
  kind: Type.String({ description: 'Kind of the message', examples: [exampleKind] }),
  sequence: Type.Integer({
    minimum: 1,
    description: 'Counts the messages to the endpoint, from 1 and without gaps, in the order in which they were queued',
    examples: [42],
  }),
  status: Status,
  occurred_at: time('Time of the event'),
  created_at: time('When it was queued'),
  attempt_count: Type.Integer({ minimum: 0, description: 'Total number of attempts', examples: [1] }),
  next_attempt_at: Type.Optional(time('Earliest time of the next attempt; absent if there is none')),
  delivered_at: Type.Optional(time('Time of acceptance by the receiver')),
}

const LastAttempt = Type.Optional(object(AttemptSchema.properties, { description: 'Absent before the first' }))

export const DeliverySchema = object({ ...deliveryMembers, last_attempt: LastAttempt })

export const DeliveryList = object({ items: Type.Array(DeliverySchema), next_cursor: NextCursor })

export const DeliveryDetailsSchema = object({
  ...deliveryMembers,
  last_attempt: LastAttempt,
  body: object(
    {
      id: Type.String({ examples: [exampleMessage] }),
      kind: Type.String({ examples: [exampleKind] }),
      tenant: Type.String({ examples: ['acme'] }),
      occurred_at: time('When it happened'),
      sequence: Type.Integer({ examples: [42] }),
      data: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'Data by kind; absent after the erasure of its subject',
          examples: [{ user_id: 'usr_9QmVb3xQ8ZrT2vYw0LxNp6Bd', role: 'member', active: true }],
        }),
      ),
    },
    { description: 'Body of the message' },
  ),
  attempts: Type.Array(AttemptSchema, { description: `The last ${webhookAttemptsKept} attempts, oldest first` }),
})

export const RedeliveredSchema = object({
  webhook_id: WebhookId,
  queued: Type.Integer({
    minimum: 0,
    maximum: webhookRedeliveriesMax,
    description: 'Deliveries that are queued again',
    examples: [17],
  }),
})

export const deliveryLocation = { location: Type.String({ description: 'The delivery, for its result' }) }

export const AddressTestBody = object({ url: Url, format: Type.Optional(Format) })

export const AddressTestSchema = object({
  ok: Type.Boolean({ description: 'Whether the receiver accepted the message', examples: [true] }),
  attempt: AttemptSchema,
  secret: Type.String({
    description: 'Secret that signed this message only; an endpoint gets its own when it is saved',
    examples: ['whsec_J4kQ8ZrT2vYw0LxNp6BdHs9AJ4kQ8ZrT2vYw0LxNp6Bd'],
  }),
})
