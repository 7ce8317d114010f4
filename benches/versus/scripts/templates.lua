-- A path of three parts, new for each request, and a look at each response's body: what torr does
-- with {{row.name}}, {{seq}}, {{rand 1 100}} and --expect-body.
--
--   wrk -s templates.lua URL -- users.csv
local names = {}
local number = 0

function init(arguments)
  for line in io.lines(arguments[1]) do
    names[#names + 1] = line
  end
  table.remove(names, 1) -- the name of the column
end

function request()
  number = number + 1
  local name = names[(number - 1) % #names + 1]
  local path = "/hello/" .. name .. "?id=" .. number .. "&r=" .. math.random(1, 100)
  return wrk.format("GET", path)
end

function response(status, headers, body)
  if not string.find(body, "hello", 1, true) then
    missed = (missed or 0) + 1
  end
end
