// The page of a report: its trainings, the table of what policies did, and a section for each domain.

function startReport() {
  const $ = (id) => document.getElementById(id);
  const failures = data.evaluated.flatMap((one) => one.contenders.flatMap((row) => row.attempts.filter((attempt) => attempt.outcome !== null))).length;
  const attempts = data.evaluated.flatMap((one) => one.contenders.flatMap((row) => row.attempts)).length;
  $("title").textContent = data.title;
  $("subtitle").textContent = [data.trainings.length ? counted(data.trainings.length, "training") : null, attempts ? `${counted(attempts, "attempt")} in ${counted(data.evaluated.length, "domain")}, ${counted(failures, "failure")}` : null].filter(Boolean).join(" · ");
  const sections = [
    ...data.trainings.map((one, i) => [one.name, trainingSection(one, `training-${i}`)]),
    ...(data.evaluated.length ? [["Overview", overview(data.lines, data.heads, data.names, data.evaluated.map((one) => one.domain))]] : []),
    ...data.evaluated.map((one, i) => [one.domain, domainSection(one, `domain-${i}`)]),
  ];
  $("report").append(...sections.map(([, section]) => section));
  if (sections.length > 1) $("contents").append(...sections.map(([name, section]) => make("a", { href: `#${section.id}` }, name)));
}

startReport();
