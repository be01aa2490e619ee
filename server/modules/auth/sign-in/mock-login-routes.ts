import type { FastifyInstance } from 'fastify'
import type { Database } from '../../../db/database.ts'
import type { SignInUsers } from '../../roster/roster-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Sessions } from '../auth-types.ts'

export function addMockLoginRoutes(
  _app: FastifyInstance,
  _deps: { database: Database; directory: TenantDirectory; users: SignInUsers; sessions: Sessions },
): void {}
