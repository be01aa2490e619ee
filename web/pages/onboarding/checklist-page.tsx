import { Accordion, Progress, Skeleton, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/api-client.ts'
import { isDevelopment } from '../../api/environment.ts'
import { useMe } from '../../api/me.ts'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { TenantDetails } from '../../components/tenant-details.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { RepublishButton } from '../connectors/republish.tsx'
import { CheckCard } from './check-card.tsx'
import { describeOptional } from './checklist-labels.ts'
import { type CheckName, checklistSteps, checkNames, type Health } from './checklist-steps.ts'
import { FirstEvent } from './first-event.tsx'
import { LiveNotice } from './live-notice.tsx'
import { ProvisionForm } from './provision-form.tsx'

const everyMs = 5000

export default function ChecklistPage() {
  const me = useMe()
  const health = api.useQuery('get', '/api/v1/observability/tenant-health', {}, { refetchInterval: everyMs })
  const mayConfirm = me.may('replaceTenant')
  const tenant = api.useQuery('get', '/api/v1/tenant', {}, { enabled: mayConfirm })
  return (
    <>
      <PageHeader
        title="Onboarding"
        about="What a tenant needs before it is live. The checks are read again every five seconds while you look."
        actions={me.may('republishSkills') && !!health.data?.checks.skills.published && <RepublishButton />}
      />
      <Stack>
        {tenant.isLoading && !tenant.failureReason ? (
          // Waits for content that may appear above the checks, so that they do not move.
          <ChecksSkeleton />
        ) : (
          <>
            {mayConfirm && (
              <QueryBoundary query={tenant} what="details of the tenant" skeleton={false}>
                {(data) => !data.confirmed_at && <TenantDetails tenant={data} />}
              </QueryBoundary>
            )}
            <QueryBoundary query={health} what="checks" skeleton={<ChecksSkeleton />}>
              {(data) => <Checks health={data} isConfirmed={!tenant.data || tenant.data.confirmed_at !== undefined} />}
            </QueryBoundary>
          </>
        )}
      </Stack>
    </>
  )
}

interface ChecksProps {
  health: Health
  /** True once the tenant's details are confirmed, which comes first. */
  isConfirmed: boolean
}

/**
 * Shows the checks, with the next one open. A check that the user opened or closed stays so until its state changes.
 */
function Checks({ health, isConfirmed }: ChecksProps) {
  const me = useMe()
  const [wishes, setWishes] = useState<ReadonlyMap<string, boolean>>(new Map())
  const optional = isDevelopment ? checkNames.filter((name) => describeOptional(name, health)) : []
  const needed = checkNames.filter((name) => !optional.includes(name))
  const next = isConfirmed ? needed.find((name) => !health.checks[name].ok) : undefined
  const done = checkNames.filter((name) => health.checks[name].ok).length
  const wishOf = (name: CheckName) => `${name} ${health.checks[name].ok}`
  const open = checkNames.filter((name) => wishes.get(wishOf(name)) ?? name === next)
  const wish = (names: readonly CheckName[], isOpen: (name: CheckName) => boolean) =>
    setWishes((before) => new Map([...before, ...names.map((name) => [wishOf(name), isOpen(name)] as const)]))
  return (
    <Stack>
      <div>
        <Text fw={600} mb={4} role="status">
          {`${done} of ${checkNames.length} checks are met${optional.length > 0 ? `, ${optional.length} optional for a trial` : ''}${next ? `. Next: ${checklistSteps[next].title}` : ''}`}
        </Text>
        <Progress value={(done / checkNames.length) * 100} aria-label="Checks that are met" />
      </div>
      <LiveNotice health={health} isComplete={needed.every((name) => health.checks[name].ok)} />
      <Accordion
        multiple
        order={2}
        variant="default"
        keepMounted={false}
        value={open}
        onChange={(now) =>
          wish(
            checkNames.filter((name) => now.includes(name) !== open.includes(name)),
            (name) => now.includes(name),
          )
        }
      >
        <Stack component="ol" gap="xs" p={0} m={0} style={{ listStyle: 'none' }}>
          {checkNames.map((name, index) => (
            <CheckCard
              key={name}
              name={name}
              number={index + 1}
              health={health}
              isNext={name === next}
              isOpen={open.includes(name)}
              onWork={() => wish([name], () => true)}
            >
              {name === 'hub' && me.may('provisionHub') && (
                <ProvisionForm check={health.checks.hub} isNext={name === next} />
              )}
              {name === 'telemetry' && !health.checks.telemetry.ok && me.may('listSkills') && <FirstEvent />}
            </CheckCard>
          ))}
        </Stack>
      </Accordion>
    </Stack>
  )
}

function ChecksSkeleton() {
  return (
    <Stack gap="xs" aria-hidden>
      <Skeleton height={44} />
      {checkNames.map((name) => (
        <Skeleton key={name} height={62} radius="md" />
      ))}
    </Stack>
  )
}
