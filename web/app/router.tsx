import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  stringifySearchWith,
} from '@tanstack/react-router'
import { commandCenterSearch } from '../pages/command-center/command-center-search.ts'
import { exportsSearch } from '../pages/exports/exports-search.ts'
import { certificatesSearch } from '../pages/governance/certificates-search.ts'
import { eventsSearch } from '../pages/governance/events-search.ts'
import { holdsSearch } from '../pages/governance/holds-search.ts'
import { connectorsSearch } from '../pages/onboarding/connectors-search.ts'
import { grantsSearch } from '../pages/onboarding/grants-search.ts'
import { rosterSearch } from '../pages/onboarding/roster-search.ts'
import { skillsSearch } from '../pages/onboarding/skills-search.ts'
import { graphSearch } from '../pages/record-graph/graph-search.ts'
import { recordsSearch } from '../pages/records/records-search.ts'
import { peopleSearch } from '../pages/settings/people-search.ts'
import { endpointSearch } from '../pages/webhooks/endpoint-search.ts'
import { Layout } from './layout.tsx'
import { NotFoundPage } from './not-found-page.tsx'
import { PageFailed } from './page-failed.tsx'
import { SkeletonPage } from './skeleton-page.tsx'

const root = createRootRoute({ component: Layout, notFoundComponent: NotFoundPage })
const getParentRoute = () => root

/**
 * Every address of the UI. A page is loaded when somebody goes there, or points at a link to it. Where a page has a
 * state to link to, `validateSearch` names it: all values are strings, and what is not understood is left out.
 */
const routes = [
  createRoute({
    getParentRoute,
    path: '/',
    validateSearch: commandCenterSearch,
    component: lazyRouteComponent(() => import('../pages/command-center/command-center-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/records',
    validateSearch: recordsSearch,
    component: lazyRouteComponent(() => import('../pages/records/records-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/records/$recordId',
    component: lazyRouteComponent(() => import('../pages/record/record-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/records/$recordId/graph',
    validateSearch: graphSearch,
    component: lazyRouteComponent(() => import('../pages/record-graph/graph-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/governance',
    validateSearch: eventsSearch,
    component: lazyRouteComponent(() => import('../pages/governance/events-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/governance/alarms',
    component: lazyRouteComponent(() => import('../pages/governance/alarms-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/governance/holds',
    validateSearch: holdsSearch,
    component: lazyRouteComponent(() => import('../pages/governance/holds-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/governance/certificates',
    validateSearch: certificatesSearch,
    component: lazyRouteComponent(() => import('../pages/governance/certificates-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/governance/retention',
    component: lazyRouteComponent(() => import('../pages/governance/retention-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/governance/log',
    component: lazyRouteComponent(() => import('../pages/governance/log-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/exports',
    validateSearch: exportsSearch,
    component: lazyRouteComponent(() => import('../pages/exports/exports-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/exports/$jobId',
    component: lazyRouteComponent(() => import('../pages/exports/export-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/onboarding',
    component: lazyRouteComponent(() => import('../pages/onboarding/checklist-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/onboarding/sign-in',
    component: lazyRouteComponent(() => import('../pages/onboarding/sso-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/onboarding/directory',
    component: lazyRouteComponent(() => import('../pages/onboarding/directory-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/onboarding/connectors',
    validateSearch: connectorsSearch,
    component: lazyRouteComponent(() => import('../pages/onboarding/connectors-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/onboarding/roster',
    validateSearch: rosterSearch,
    component: lazyRouteComponent(() => import('../pages/onboarding/roster-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/onboarding/skills',
    validateSearch: skillsSearch,
    component: lazyRouteComponent(() => import('../pages/onboarding/skills-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/onboarding/grants',
    validateSearch: grantsSearch,
    component: lazyRouteComponent(() => import('../pages/onboarding/grants-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/webhooks',
    component: lazyRouteComponent(() => import('../pages/webhooks/webhooks-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/webhooks/$webhookId',
    validateSearch: endpointSearch,
    component: lazyRouteComponent(() => import('../pages/webhooks/endpoint-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/settings',
    component: lazyRouteComponent(() => import('../pages/settings/you-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/tenant',
    component: lazyRouteComponent(() => import('../pages/settings/tenant-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/people',
    validateSearch: peopleSearch,
    component: lazyRouteComponent(() => import('../pages/settings/people-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/service-accounts',
    component: lazyRouteComponent(() => import('../pages/settings/service-accounts-page.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/prices',
    component: lazyRouteComponent(() => import('../pages/settings/prices-page.tsx')),
  }),
] as const

export const router = createRouter({
  routeTree: root.addChildren(routes),
  // The router's own reading would make numbers and booleans of texts that look like them.
  parseSearch: (query) => Object.fromEntries(new URLSearchParams(query)),
  stringifySearch: stringifySearchWith(String),
  defaultPreload: 'intent',
  defaultPendingMs: 200,
  defaultPendingComponent: SkeletonPage,
  defaultErrorComponent: PageFailed,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
