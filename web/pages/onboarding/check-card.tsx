import { Accordion, Badge, Box, Button, Code, Group, Stack, Text, ThemeIcon } from '@mantine/core'
import { IconAlertTriangle, IconArrowRight, IconCheck, IconCircleDashed } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { isDevelopment } from '../../api/environment.ts'
import { useMe } from '../../api/me.ts'
import { TimeText } from '../../ui/time-text.tsx'
import styles from './check-card.module.css'
import { describeMissing, describeOptional, wasMet } from './checklist-labels.ts'
import { type CheckName, checklistSteps, type Health, type NextStep } from './checklist-steps.ts'

/** Orange marks a broken check, not one that was never met. */
const states = {
  met: { word: 'Met', color: 'seal', Icon: IconCheck },
  broken: { word: 'Not met', color: 'orange', Icon: IconAlertTriangle },
  next: { word: 'Next', color: 'seal', Icon: IconArrowRight },
  open: { word: 'To do', color: 'gray', Icon: IconCircleDashed },
  optional: { word: 'Optional for a trial', color: 'gray', Icon: IconCircleDashed },
} as const

function stateOf(name: CheckName, health: Health, isNext: boolean, isOptional: boolean): keyof typeof states {
  if (health.checks[name].ok) return 'met'
  if (isOptional) return 'optional'
  if (wasMet(name, health)) return 'broken'
  return isNext ? 'next' : 'open'
}

interface CheckCardProps {
  name: CheckName
  number: number
  health: Health
  /** True for the next step: its button is filled. */
  isNext: boolean
  isOpen: boolean
  /** Called when the user starts to work in the card. */
  onWork(): void
  /** Forms that complete the check inside the card. */
  children?: ReactNode
}

/** Shows one check: a line with its state, and when open its figures, what is missing, and how to complete it. */
export function CheckCard({ name, number, health, isNext, isOpen, onWork, children }: CheckCardProps) {
  const me = useMe()
  const check = health.checks[name]
  const { title, about, summary, figures, next } = of(name, health)
  const trialText = isDevelopment ? describeOptional(name, health) : undefined
  const { word, color, Icon } = states[stateOf(name, health, isNext, trialText !== undefined)]
  const missing = trialText ?? describeMissing(name, health)
  const steps = check.ok ? [] : next.filter(({ needs }) => me.may(needs))
  return (
    <li>
      <Accordion.Item value={name} className={styles.item}>
        <Accordion.Control
          icon={
            <ThemeIcon radius="xl" size={28} color={color} variant={check.ok ? 'filled' : 'light'}>
              <Icon size={17} aria-hidden />
            </ThemeIcon>
          }
        >
          <span className={styles.line}>
            <Text span fw={650} className={styles.title}>{`${number}. ${title}`}</Text>
            <Text span size="sm" c="dimmed" className={styles.summary}>
              {!isOpen && (check.ok ? summary : missing)}
            </Text>
            <Badge variant="light" color={color}>
              {word}
            </Badge>
          </span>
        </Accordion.Control>
        <Accordion.Panel onFocus={onWork} className={styles.panel}>
          <Stack gap="xs">
            <Text size="sm" c="dimmed">
              {about}
            </Text>
            <Box component="dl" className={styles.figures}>
              {figures.map(([label, value]) => (
                <Figure key={label} label={label} value={value} />
              ))}
              <Moment name={name} health={health} />
            </Box>
            {missing && <Text size="sm">{missing}</Text>}
            {steps.length > 0 && (
              <Group gap="xs">
                {steps.map(({ label, to, search }, index) => (
                  <Button
                    key={to + label}
                    size="xs"
                    variant={isNext && index === 0 ? 'filled' : 'default'}
                    renderRoot={(props) => <Link to={to} search={(search ?? {}) as never} {...props} />}
                  >
                    {label}
                  </Button>
                ))}
              </Group>
            )}
            {children}
            {!check.ok && <ForTheApi text={check.detail} />}
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
    </li>
  )
}

function of(name: CheckName, { checks }: Health) {
  const step = checklistSteps[name]
  const check = checks[name] as never
  return {
    ...step,
    summary: step.summary(check),
    figures: step.figures(check),
    next: step.next(check) as NextStep[],
  }
}

function Figure({ label, value }: { label: string; value: ReactNode }) {
  return (
    <div>
      <Text component="dt" size="xs" c="dimmed">
        {label}
      </Text>
      <Text component="dd" size="sm" m={0} style={{ fontVariantNumeric: 'tabular-nums' }}>
        {value}
      </Text>
    </div>
  )
}

/** Shows when the check last happened, if it records that. */
function Moment({ name, health: { checks } }: { name: CheckName; health: Health }) {
  const moments: Partial<Record<CheckName, [string, string | undefined]>> = {
    identity: ['Last sync', checks.identity.last_synced_at],
    platforms: ['Last publish', checks.platforms.last_publish_at],
    hub: ['Since', checks.hub.provisioned_at],
    telemetry: ['First event', checks.telemetry.first_event_at],
  }
  const [label, at] = moments[name] ?? []
  return label && at ? (
    <Figure
      label={label}
      value={<TimeText iso={at} form={name === 'hub' || name === 'telemetry' ? 'full' : 'ago'} />}
    />
  ) : null
}

/** Shows the Hub's own text for API callers. Calls in it are set apart. */
function ForTheApi({ text }: { text: string }) {
  const parts = text.split(/((?:GET|POST|PUT) \/[^\s,;:]*[^\s,;:.])/)
  return (
    <details>
      <Text component="summary" size="xs" c="dimmed" style={{ cursor: 'pointer' }}>
        For the API
      </Text>
      <Text size="sm" mt={4} style={{ overflowWrap: 'anywhere' }}>
        {parts.map((part, index) => (index % 2 ? <Code key={part}>{part}</Code> : part))}
      </Text>
    </details>
  )
}
