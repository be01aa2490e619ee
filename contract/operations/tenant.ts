import { administrator, type Operation, tenantSettings } from './operation.ts'

/** The tenant itself, and its service accounts. */
export const tenantOperations = {
  getTenant: {
    method: 'GET',
    path: '/api/v1/tenant',
    access: tenantSettings,
    rateClass: 'roster',
    tag: 'Tenant',
    summary: 'Get the details of the tenant',
  },
  replaceTenant: {
    method: 'PUT',
    path: '/api/v1/tenant',
    access: tenantSettings,
    rateClass: 'roster',
    tag: 'Tenant',
    summary: 'Confirm or change the details of the tenant',
  },
  listServiceAccounts: {
    method: 'GET',
    path: '/api/v1/service-accounts',
    access: administrator,
    rateClass: 'roster',
    tag: 'Service accounts',
    summary: 'List the service accounts',
  },
  createServiceAccount: {
    method: 'POST',
    path: '/api/v1/service-accounts',
    access: administrator,
    rateClass: 'roster',
    tag: 'Service accounts',
    summary: 'Create a service account',
  },
  getServiceAccount: {
    method: 'GET',
    path: '/api/v1/service-accounts/{client_id}',
    access: administrator,
    rateClass: 'roster',
    tag: 'Service accounts',
    summary: 'Get a service account',
  },
  updateServiceAccount: {
    method: 'PATCH',
    path: '/api/v1/service-accounts/{client_id}',
    access: administrator,
    rateClass: 'roster',
    tag: 'Service accounts',
    summary: 'Change a service account',
  },
  disableServiceAccount: {
    method: 'DELETE',
    path: '/api/v1/service-accounts/{client_id}',
    access: administrator,
    rateClass: 'roster',
    tag: 'Service accounts',
    summary: 'Disable a service account for good',
  },
  rotateServiceAccountSecret: {
    method: 'POST',
    path: '/api/v1/service-accounts/{client_id}:rotate-secret',
    access: administrator,
    rateClass: 'roster',
    tag: 'Service accounts',
    summary: 'Give a service account a new secret',
  },
} as const satisfies Record<string, Operation>
