import type { FastifyInstance, FastifyReply } from 'fastify'
import { earlyPurges } from '../../../contract/retention-warnings.ts'
import { addRoute } from '../../http/route.ts'
import { RetentionBody, RetentionSchema, warningHeader } from './retention-schemas.ts'
import type { Retention } from './retention-service.ts'
import type { RetentionRules } from './retention-types.ts'

export function addRetentionRoutes(app: FastifyInstance, retention: Retention): void {
  addRoute(
    app,
    'getRetentionRules',
    {
      description: 'Returns the minimum and maximum age of records by record type.',
      response: { 200: RetentionSchema },
      responseHeaders: { 200: warningHeader },
    },
    async (request, reply) => withWarnings(reply, await retention.get(request.caller.tenant)),
  )

  addRoute(
    app,
    'replaceRetentionRules',
    {
      description:
        'Replaces all rules. Records of a type without a rule are kept until someone purges them, at any age. ' +
        'Records that the service purges by `max_days` can be restored for 30 days like all purged records. A rule that ' +
        'purges records before they are six months old takes effect, and the header `Warning` of the response names it.',
      body: RetentionBody,
      response: { 200: RetentionSchema },
      responseHeaders: { 200: warningHeader },
    },
    async (request, reply) => withWarnings(reply, await retention.replace(request.caller, request.body)),
  )
}

/** Adds the header with a warning for each rule that purges records before they are six months old. */
function withWarnings(reply: FastifyReply, rules: RetentionRules): RetentionRules {
  const warnings = earlyPurges(rules.rules).map((rule) => `299 - "${rule.text}"`)
  if (warnings.length > 0) reply.header('warning', warnings.join(', '))
  return rules
}
