-- Exact quotients of products of whole numbers, even if the product itself is too large to be exact. The counterpart of
-- mul-div.ts.

local EXACT <const> = 9007199254740992

-- The quotient and the remainder of a * b / c, for c below 2^52. Large products use long division, one bit of `a` at a time.
local function divide_product(a, b, c)
  local product = a * b
  if product < EXACT then
    local whole = math.floor(product / c)
    return whole, product - whole * c
  end
  local whole, left = 0, 0
  local whole_of_b, left_of_b = math.floor(b / c), b % c
  local bit = 2 ^ 52
  while bit >= 1 do
    whole, left = 2 * whole, 2 * left
    if left >= c then whole, left = whole + 1, left - c end
    if a >= bit then
      a = a - bit
      whole, left = whole + whole_of_b, left + left_of_b
      if left >= c then whole, left = whole + 1, left - c end
    end
    bit = bit / 2
  end
  return whole, left
end
