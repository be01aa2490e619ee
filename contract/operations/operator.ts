import { type Operation, ownCredential } from './operation.ts'

/** Operations of the operator on tenants, authorized by HUB_OPERATOR_TOKEN. */
export const operatorOperations = {
  createTenant: {
    method: 'POST',
    path: '/api/v1/operator/tenants',
    access: ownCredential,
    rateClass: 'roster',
    body: 'signIn',
    tag: 'Operator',
    summary: 'Create a tenant',
  },
  listTenants: {
    method: 'GET',
    path: '/api/v1/operator/tenants',
    access: ownCredential,
    rateClass: 'roster',
    tag: 'Operator',
    summary: 'List the tenants',
  },
  getTenantAsOperator: {
    method: 'GET',
    path: '/api/v1/operator/tenants/{slug}',
    access: ownCredential,
    rateClass: 'roster',
    tag: 'Operator',
    summary: 'Get a tenant',
  },
  updateTenant: {
    method: 'PATCH',
    path: '/api/v1/operator/tenants/{slug}',
    access: ownCredential,
    rateClass: 'roster',
    body: 'signIn',
    tag: 'Operator',
    summary: 'Change a tenant',
  },
  createWelcomeLink: {
    method: 'POST',
    path: '/api/v1/operator/tenants/{slug}:welcome-link',
    access: ownCredential,
    rateClass: 'roster',
    body: 'signIn',
    tag: 'Operator',
    summary: 'Create another welcome link for the administrator of a tenant',
  },
} as const satisfies Record<string, Operation>
