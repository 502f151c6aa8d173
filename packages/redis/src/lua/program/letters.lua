local char = string.char

-- A whole number below 2^53 in six, eight or nine letters from ":" to "y": its digits to the base 64, the lowest one first. A
-- number in decimal digits takes as long, but more bytes. A loop, or a concatenation, would take up to twice as long.
local function to_letters(number)
  local a, b, c, d, e = number % 64, number % 64 ^ 2, number % 64 ^ 3, number % 64 ^ 4, number % 64 ^ 5
  if number < 64 ^ 6 then
    return char(a + 58, (b - a) / 64 + 58, (c - b) / 64 ^ 2 + 58, (d - c) / 64 ^ 3 + 58, (e - d) / 64 ^ 4 + 58,
      (number - e) / 64 ^ 5 + 58)
  end
  local f, g, h = number % 64 ^ 6, number % 64 ^ 7, number % 64 ^ 8
  local letters = char(a + 58, (b - a) / 64 + 58, (c - b) / 64 ^ 2 + 58, (d - c) / 64 ^ 3 + 58, (e - d) / 64 ^ 4 + 58,
    (f - e) / 64 ^ 5 + 58, (g - f) / 64 ^ 6 + 58, (h - g) / 64 ^ 7 + 58)
  return h == number and letters or letters .. char((number - h) / 64 ^ 8 + 58)
end
