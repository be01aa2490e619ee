import type { FastifyInstance } from 'fastify'
import type { ServiceAccounts } from '../auth-types.ts'

export function addServiceAccountRoutes(_app: FastifyInstance, _serviceAccounts: ServiceAccounts): void {}
