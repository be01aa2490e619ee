import type { FastifyInstance } from 'fastify'
import { pageSizeDefault } from '../../../../contract/limits.ts'
import { PageQuery } from '../../../../contract/request-schemas.ts'
import { addRoute } from '../../../http/route.ts'
import type { Groups } from '../roster-types.ts'
import { GroupList, GroupMemberList, GroupParams } from './groups-schemas.ts'

export function addGroupRoutes(app: FastifyInstance, groups: Groups): void {
  addRoute(
    app,
    'listGroups',
    { description: 'The oldest first.', querystring: PageQuery, response: { 200: GroupList } },
    async (request) => {
      const { limit = pageSizeDefault, cursor } = request.query
      return groups.list(request.caller.tenant, { limit, cursor })
    },
  )

  addRoute(
    app,
    'listGroupMembers',
    {
      description: 'The people of the group. Groups inside groups are not followed.',
      params: GroupParams,
      querystring: PageQuery,
      response: { 200: GroupMemberList },
    },
    async (request) => {
      const { limit = pageSizeDefault, cursor } = request.query
      return groups.members(request.caller.tenant, request.params.group_id, { limit, cursor })
    },
  )
}
