import type { FastifyInstance } from 'fastify'
import { PageQuery } from '../../../contract/request-schemas.ts'
import { addRoute } from '../../http/route.ts'
import { CheckQuery, ChecksBody, ChecksSchema, EntitlementSchema } from './checks/checks-schemas.ts'
import { checkEntitlements } from './checks/checks-service.ts'
import { SkillList, SkillParams, SkillSchema, TransitionBody } from './entitlement-schemas.ts'
import type { Skills } from './entitlement-service.ts'
import {
  ArchetypeGrantsBody,
  ArchetypeGrantsSchema,
  ArchetypeParams,
  GrantList,
  GrantsQuery,
} from './grants/grants-schemas.ts'
import type { Grants } from './grants/grants-service.ts'

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

const rule =
  'A user may use a skill that is granted to one of their archetypes, from its publication until its retirement. ' +
  'A deprecated skill is allowed with a warning.'

export function addCheckRoutes(app: FastifyInstance, deps: Parameters<typeof checkEntitlements>[0]): void {
  addRoute(
    app,
    'checkEntitlement',
    { description: rule, querystring: CheckQuery, response: { 200: EntitlementSchema } },
    async (request) => {
      const { user_id, skill_id } = request.query
      const [answer] = await checkEntitlements(deps, request.caller.tenant, [{ user_id, skill_id }])
      return answer!
    },
  )

  addRoute(
    app,
    'checkEntitlements',
    { description: rule, body: ChecksBody, response: { 200: ChecksSchema } },
    async (request) => ({ results: await checkEntitlements(deps, request.caller.tenant, request.body.checks) }),
  )
}

export function addGrantRoutes(app: FastifyInstance, grants: Grants): void {
  addRoute(
    app,
    'listGrants',
    {
      description: 'Sorted by archetype, then skill.',
      querystring: GrantsQuery,
      response: { 200: GrantList },
    },
    async (request) => grants.list(request.caller.tenant, request.query),
  )

  addRoute(
    app,
    'getArchetypeGrants',
    {
      description: 'Returns the skills that people with this archetype can use, with the pack that granted each.',
      params: ArchetypeParams,
      response: { 200: ArchetypeGrantsSchema },
    },
    async (request) => grants.ofArchetype(request.caller.tenant, request.params.archetype_id),
  )

  addRoute(
    app,
    'replaceArchetypeGrants',
    {
      description:
        'Grants the archetype exactly these skills. A grant of a pack stays with the pack; a grant that is ' +
        'revoked here returns when its pack is applied again. Repeating it changes nothing.',
      params: ArchetypeParams,
      body: ArchetypeGrantsBody,
      response: { 200: ArchetypeGrantsSchema },
      problems: ['skill-not-registered'],
    },
    async (request) => grants.replace(request.caller, request.params.archetype_id, request.body.skill_ids),
  )
}
