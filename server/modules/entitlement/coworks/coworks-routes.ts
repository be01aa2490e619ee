import type { FastifyInstance } from 'fastify'
import { DomainError, type PointedError } from '../../../../contract/domain-error.ts'
import { PageQuery } from '../../../../contract/request-schemas.ts'
import { isJsonObject, type JsonValue } from '../../../../provenance/json.ts'
import { errorAt } from '../../../http/body/json-violations.ts'
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
import type { Coworks } from './coworks-service.ts'

export function addCoworkRoutes(app: FastifyInstance, coworks: Coworks): void {
  addRoute(
    app,
    'listCoworks',
    {
      description: 'Sorted by id. A page can be shorter than `limit` if packs are large.',
      querystring: PageQuery,
      response: { 200: CoworkList },
    },
    async (request) => coworks.list(request.caller.tenant, request.query),
  )

  addRoute(
    app,
    'getCowork',
    {
      description: 'Returns the stored version, which may differ from the applied one.',
      params: CoworkParams,
      response: { 200: CoworkSchema },
    },
    async (request) => coworks.get(request.caller.tenant, request.params.cowork_id),
  )

  addRoute(
    app,
    'replaceCowork',
    {
      description:
        'A pack takes effect when it is applied. Registered versions do not change: a changed skill needs a new ' +
        'version.',
      params: NewCoworkParams,
      body: CoworkBodySchema,
      screenBody: ({ tenant }, body) => {
        if (tenant.mode === 'C') rejectPackContent(body as JsonValue | undefined)
      },
      response: { 200: CoworkSchema },
      problems: ['content-not-allowed', 'hub-not-provisioned'],
    },
    async (request) => coworks.replace(request.caller, request.params.cowork_id, request.body),
  )

  addRoute(
    app,
    'applyCowork',
    {
      description:
        'Registers missing versions as skill_definition records, publishes the skills, grants them to the ' +
        'archetypes, and revokes grants that the pack made before and no longer contains, unless another applied ' +
        'pack contains them. Repeating it changes nothing.',
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
      description: 'Returns the last application with changes; 404 before the first.',
      params: CoworkParams,
      response: { 200: ApplicationSchema },
    },
    async (request) => coworks.application(request.caller.tenant, request.params.cowork_id),
  )
}

/** The members that skill_definition records of a Mode C tenant may have. */
const envelope: ReadonlySet<string> = new Set(['skill_id', 'skill_version', 'name', 'owner'])

/** Maximum number of listed errors. */
const namedMax = 100

/**
 * Throws `content-not-allowed` for a pack that a Mode C tenant may not send. Runs before the schema of the body, so
 * that content is rejected as content regardless of other errors. The schema rejects anything that is not a list of
 * skills.
 */
function rejectPackContent(body: JsonValue | undefined): void {
  const skills = isJsonObject(body) ? body.skills : undefined
  if (!Array.isArray(skills)) return
  const errors = skills.flatMap((skill, index) => contentOf(skill, index)).slice(0, namedMax)
  if (errors.length === 0) return
  throw new DomainError(
    'content-not-allowed',
    'A pack of a tenant in Mode C has skill_id, skill_version, name and owner of its skills; their descriptions ' +
      'and manifests stay in its own cloud.',
    { errors },
  )
}

function contentOf(skill: JsonValue, index: number): PointedError[] {
  if (!isJsonObject(skill)) return []
  return Object.keys(skill)
    .filter((name) => !envelope.has(name))
    .map((name) => errorAt(['skills', String(index), name], 'is not allowed in Mode C'))
}
