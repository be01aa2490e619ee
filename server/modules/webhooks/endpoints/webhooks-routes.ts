import type { FastifyInstance } from 'fastify'
import {
  secretOverlapHours,
  webhookPauseSeconds,
  webhookResponseSeconds,
  webhooksMax,
} from '../../../../contract/limits.ts'
import { PageQuery } from '../../../../contract/request-schemas.ts'
import type { ValidParts } from '../../../http/body/valid-parts.ts'
import { addRoute, emptyBody } from '../../../http/route.ts'
import type { WebhookSettings } from '../webhooks-types.ts'
import {
  RemovedWebhook,
  WebhookBody,
  WebhookChangesBody,
  WebhookList,
  WebhookParams,
  WebhookSchema,
  webhookLocation,
} from './webhooks-schemas.ts'
import type { WebhookAdministration } from './webhooks-service.ts'

/** The pauses as text: `5 s, 5 m, 2 h and 10 h`. */
const schedule = new Intl.ListFormat('en-GB').format(
  webhookPauseSeconds.map((seconds) => {
    if (seconds < 60) return `${seconds} s`
    return seconds < 3600 ? `${seconds / 60} m` : `${seconds / 3600} h`
  }),
)

export function addWebhookRoutes(app: FastifyInstance, webhooks: WebhookAdministration): void {
  addRoute(
    app,
    'createWebhook',
    {
      description:
        'Messages are signed with `secret`, which is returned only once. Delivery is at least once and not always in ' +
        'order: `sequence` counts the messages of the endpoint from 1 without gaps. A message without a 2xx response ' +
        `within ${webhookResponseSeconds} seconds is sent again after ${schedule}. ` +
        `A tenant has at most ${webhooksMax} endpoints.`,
      body: WebhookBody,
      checkBody: (sound: ValidParts<WebhookSettings>) => webhooks.furtherProblems(sound),
      response: { 201: WebhookSchema },
      responseHeaders: { 201: webhookLocation },
      problems: ['hub-unavailable'],
    },
    async (request, reply) => {
      const webhook = await webhooks.create(request.caller, request.body)
      reply.code(201).header('location', `/api/v1/webhooks/${webhook.webhook_id}`)
      return webhook
    },
  )

  addRoute(
    app,
    'listWebhooks',
    {
      description: 'Oldest first, without secrets.',
      querystring: PageQuery,
      response: { 200: WebhookList },
      problems: ['invalid-cursor'],
    },
    async (request) => webhooks.list(request.caller.tenant, request.query),
  )

  addRoute(
    app,
    'getWebhook',
    {
      description: 'Returns its health, without its secret.',
      params: WebhookParams,
      response: { 200: WebhookSchema },
    },
    async (request) => webhooks.get(request.caller.tenant, request.params.webhook_id),
  )

  addRoute(
    app,
    'updateWebhook',
    {
      description:
        'Absent members stay unchanged; lists and objects are replaced as a whole. `enabled: false` stops ' +
        'delivery: pending deliveries continue after it is enabled again, and events in between are not sent. ' +
        '`enabled: true` clears past failures, and so does a changed `url`.',
      params: WebhookParams,
      body: WebhookChangesBody,
      checkBody: (sound: ValidParts<WebhookSettings>) => webhooks.furtherProblems(sound),
      response: { 200: WebhookSchema },
    },
    async (request) => webhooks.update(request.caller, request.params.webhook_id, request.body),
  )

  addRoute(
    app,
    'removeWebhook',
    {
      description:
        'Stops delivery, and deletes the secret and the deliveries. Repeating the request returns the same response.',
      params: WebhookParams,
      response: { 200: RemovedWebhook },
    },
    async (request) => webhooks.remove(request.caller, request.params.webhook_id),
  )

  addRoute(
    app,
    'rotateWebhookSecret',
    {
      description: `Returns the new \`secret\`, only once. For ${secretOverlapHours} hours each message has two signatures, by the new and the previous secret; any older secret ends at once.`,
      params: WebhookParams,
      body: emptyBody,
      bodyOptional: true,
      response: { 200: WebhookSchema },
      problems: ['hub-unavailable'],
    },
    async (request) => webhooks.rotateSecret(request.caller, request.params.webhook_id),
  )
}
