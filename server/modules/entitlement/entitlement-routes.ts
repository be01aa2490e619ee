import type { FastifyInstance } from 'fastify'
import { PageQuery } from '../../../contract/request-schemas.ts'
import { addRoute } from '../../http/route.ts'
import { SkillList, SkillParams, SkillSchema, TransitionBody } from './entitlement-schemas.ts'
import type { Skills } from './entitlement-service.ts'

export function addEntitlementRoutes(app: FastifyInstance, skills: Skills): void {
  addRoute(
    app,
    'listSkills',
    {
      description: 'Returns skills with their versions and states.',
      querystring: PageQuery,
      response: { 200: SkillList },
    },
    async (request) => skills.list(request.caller.tenant, request.query),
  )

  addRoute(
    app,
    'getSkill',
    {
      description: 'Returns its versions and state.',
      params: SkillParams,
      response: { 200: SkillSchema },
    },
    async (request) => skills.get(request.caller.tenant, request.params.skill_id),
  )

  addRoute(
    app,
    'transitionSkill',
    {
      description:
        '`draft` → `published` → `deprecated` → `retired`, and from `deprecated` back to `published`. Any other ' +
        'step is 400.',
      params: SkillParams,
      body: TransitionBody,
      response: { 200: SkillSchema },
    },
    async (request) => skills.transition(request.caller, request.params.skill_id, request.body.state),
  )
}
