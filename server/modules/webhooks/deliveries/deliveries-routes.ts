import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import {
  webhookAddressTestsAtOnce,
  webhookDeliveryDays,
  webhookRedeliveriesMax,
  webhookResponseSeconds,
} from '../../../../contract/limits.ts'
import type { ValidParts } from '../../../http/body/valid-parts.ts'
import { addRoute, emptyBody } from '../../../http/route.ts'
import { WebhookParams } from '../endpoints/webhooks-schemas.ts'
import type { AddressTests } from './address-tests.ts'
import {
  AddressTestBody,
  AddressTestSchema,
  DeliveriesQuery,
  DeliveryDetailsSchema,
  DeliveryList,
  DeliveryParams,
  DeliverySchema,
  deliveryLocation,
  LoneDeliveryParams,
  RedeliverBody,
  RedeliveredSchema,
} from './deliveries-schemas.ts'
import type { DeliveryAdministration, DeliveryResponse } from './deliveries-service.ts'

export function addDeliveryRoutes(app: FastifyInstance, deliveries: DeliveryAdministration): void {
  addReadRoutes(app, deliveries)
  addQueueRoutes(app, deliveries)
}

function addReadRoutes(app: FastifyInstance, deliveries: DeliveryAdministration): void {
  addRoute(
    app,
    'listDeliveries',
    {
      description: `Newest first, of the last ${webhookDeliveryDays} days. A page can have fewer items than \`limit\`, or none, if matches are rare: the list ends when \`next_cursor\` is null.`,
      params: WebhookParams,
      querystring: DeliveriesQuery,
      response: { 200: DeliveryList },
      problems: ['invalid-cursor'],
    },
    async ({ caller, params, query }) => deliveries.list(caller.tenant, params.webhook_id, query),
  )

  addRoute(
    app,
    'getDelivery',
    {
      description: 'Returns the body, and the result of each attempt.',
      params: DeliveryParams,
      response: { 200: DeliveryDetailsSchema },
    },
    async ({ caller, params }) => deliveries.get(caller.tenant, params.webhook_id, params.delivery_id),
  )
}

/** The parts of a route that queues one delivery. */
const queuesOne = {
  body: emptyBody,
  bodyOptional: true,
  response: { 202: DeliverySchema },
  responseHeaders: { 202: deliveryLocation },
} as const

function addQueueRoutes(app: FastifyInstance, deliveries: DeliveryAdministration): void {
  addRoute(
    app,
    'testWebhook',
    {
      description:
        'Queues a message of the type `webhook.test`, regardless of the subscription, and also while the endpoint ' +
        'is disabled. It is attempted once. Poll the address in `Location` for the result.',
      params: WebhookParams,
      ...queuesOne,
    },
    async ({ caller, params }, reply) => queued(reply, await deliveries.test(caller, params.webhook_id)),
  )

  addRoute(
    app,
    'redeliver',
    {
      description:
        'Restarts the schedule of the delivery at once with the same body, regardless of its status. A delivery ' +
        'whose data was erased cannot be sent again, nor can any delivery while the endpoint is disabled.',
      params: DeliveryParams,
      ...queuesOne,
      problems: ['concurrent-modification'],
    },
    async ({ caller, params: { webhook_id, delivery_id } }, reply) =>
      queued(reply, await deliveries.redeliver(caller, webhook_id, delivery_id)),
  )

  addRoute(
    app,
    'redeliverDelivery',
    {
      description: 'Same as the operation of the endpoint, without the id of the endpoint.',
      params: LoneDeliveryParams,
      ...queuesOne,
      problems: ['concurrent-modification'],
    },
    async ({ caller, params }, reply) =>
      queued(reply, await deliveries.redeliver(caller, undefined, params.delivery_id)),
  )

  addRoute(
    app,
    'redeliverSince',
    {
      description: `Queues undelivered messages again, in the order of \`sequence\`; with \`status: "delivered"\` the delivered ones. Test messages and erased messages are skipped. At most ${webhookRedeliveriesMax.toLocaleString('en')} deliveries at a time.`,
      params: WebhookParams,
      body: RedeliverBody,
      // Without a body, the error is the missing `since`.
      bodyOptional: true,
      response: { 202: RedeliveredSchema },
      problems: ['concurrent-modification'],
    },
    async ({ caller, params, body }, reply) => {
      reply.code(202)
      return deliveries.redeliverSince(caller, params.webhook_id, body)
    },
  )
}

function queued(reply: FastifyReply, delivery: DeliveryResponse): DeliveryResponse {
  const { webhook_id, delivery_id } = delivery
  reply.code(202).header('location', `/api/v1/webhooks/${webhook_id}/deliveries/${delivery_id}`)
  return delivery
}

export function addAddressTestRoutes(app: FastifyInstance, tests: AddressTests): void {
  addRoute(
    app,
    'testWebhookAddress',
    {
      description:
        'Sends one message of the type `webhook.test`, signed with a secret of its own, and returns the result. ' +
        `Stores no endpoint. The receiver has ${webhookResponseSeconds} seconds to respond, and a tenant runs at most ` +
        `${webhookAddressTestsAtOnce} tests at once.`,
      body: AddressTestBody,
      checkBody: (body: ValidParts<Static<typeof AddressTestBody>>) => tests.problemsIn(body),
      response: { 200: AddressTestSchema },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      return tests.run(request.caller, request.body)
    },
  )
}
