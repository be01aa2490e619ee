import type { FastifyInstance } from 'fastify'
import { pageSizeDefault } from '../../../../contract/limits.ts'
import { PageQuery } from '../../../../contract/request-schemas.ts'
import type { JsonValue } from '../../../../provenance/json.ts'
import { addRoute } from '../../../http/route.ts'
import {
  ApplicationBody,
  ApplicationSchema,
  CoworkBodySchema,
  CoworkList,
  CoworkParams,
  CoworkSchema,
  NewCoworkParams,
} from './coworks-schemas.ts'
import type { Application, Cowork, Coworks } from './coworks-types.ts'
import { refusePackContent } from './pack-content-rule.ts'

export function addCoworkRoutes(app: FastifyInstance, coworks: Coworks): void {
  addRoute(
    app,
    'listCoworks',
    {
      description: 'In the order of their ids. A page may be shorter than `limit` where packs are large.',
      querystring: PageQuery,
      response: { 200: CoworkList },
    },
    async (request) => {
      const { limit = pageSizeDefault, cursor } = request.query
      const { items, next_cursor } = await coworks.list(request.caller.tenant, { limit, cursor })
      return { items: items.map(coworkAnswer), next_cursor }
    },
  )

  addRoute(
    app,
    'getCowork',
    {
      description: 'Returns the stored version, which may differ from the applied one.',
      params: CoworkParams,
      response: { 200: CoworkSchema },
    },
    async (request) => coworkAnswer(await coworks.get(request.caller.tenant, request.params.cowork_id)),
  )

  addRoute(
    app,
    'replaceCowork',
    {
      description:
        'A pack comes into effect when it is applied. What is registered already stays as its record has it: a ' +
        'changed skill needs a new version.',
      params: NewCoworkParams,
      body: CoworkBodySchema,
      screenBody: ({ tenant }, body) => {
        if (tenant.mode === 'C') refusePackContent(body as JsonValue | undefined)
      },
      response: { 200: CoworkSchema },
      problems: ['content-not-allowed', 'hub-not-provisioned'],
    },
    async (request) => coworkAnswer(await coworks.replace(request.caller, request.params.cowork_id, request.body)),
  )

  addRoute(
    app,
    'applyCowork',
    {
      description:
        'Registers the versions of the pack that are missing as skill_definition records, publishes its skills, ' +
        'grants them to the archetypes, and takes the grants that the pack gave before and no longer gives, unless ' +
        'another applied pack gives them. Repeating it changes nothing.',
      params: CoworkParams,
      body: ApplicationBody,
      bodyOptional: true,
      response: { 200: ApplicationSchema },
      problems: ['skill-not-registered', 'hub-not-provisioned'],
    },
    async (request) => coworks.apply(request.caller, request.params.cowork_id, request.body),
  )

  addRoute(
    app,
    'getCoworkApplication',
    {
      description: 'The last application that changed something; none before the first.',
      params: CoworkParams,
      response: { 200: ApplicationSchema },
    },
    async (request): Promise<Application> => coworks.application(request.caller.tenant, request.params.cowork_id),
  )
}

function coworkAnswer(cowork: Cowork) {
  return { ...cowork, skills: [...cowork.skills], archetype_ids: [...cowork.archetype_ids] }
}
