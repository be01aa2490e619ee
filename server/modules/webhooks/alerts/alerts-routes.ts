import type { FastifyInstance } from 'fastify'
import { webhookOpenAlertsMax } from '../../../../contract/limits.ts'
import { PageQuery } from '../../../../contract/request-schemas.ts'
import { addRoute } from '../../../http/route.ts'
import { WebhookParams } from '../endpoints/webhooks-schemas.ts'
import { AlertList } from './alerts-schemas.ts'
import type { AlertLists } from './alerts-service.ts'

export function addAlertRoutes(app: FastifyInstance, alerts: AlertLists): void {
  addRoute(
    app,
    'listWebhookAlerts',
    {
      description:
        'Lists alerts of the rules in `alerts` of the endpoint, oldest first. Windows are evaluated about every ' +
        `ten seconds. At most ${webhookOpenAlertsMax} are open at a time.`,
      params: WebhookParams,
      querystring: PageQuery,
      response: { 200: AlertList },
      problems: ['invalid-cursor'],
    },
    async ({ caller, params, query }) => alerts.list(caller.tenant, params.webhook_id, query),
  )
}
